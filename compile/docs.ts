import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { echo } from "zx";
import { GUIDES } from "../test/guides/blocks.ts";
import { startGuideServer } from "../test/guides/guide-folder.ts";
import { PARTS, refresh } from "./docs/parts.ts";
import { drawPicture, PICTURE } from "./docs/picture.ts";
import { GUIDE_MOCK, listSamples, replaceSamples, runSample } from "./docs/samples.ts";

/**
 * `npm run docs`: writes the parts of the guides that are made from the source: option lists and the reference of scenarios.
 * `npm run docs -- --output [GUIDE…]` also runs the commands whose output the guides show. It takes about 2 minutes; nothing else should run.
 */

const { values, positionals } = parseArgs({ options: { output: { type: "boolean" } }, allowPositionals: true });

for (const part of PARTS) {
  const { path, before, after } = refresh(part);
  if (after !== before) writeFileSync(path, after);
  echo(`${part.guide}: ${part.name} ${after === before ? "is fresh" : "was written"}`);
}
if (values.output === true) await refreshSamples();

async function refreshSamples(): Promise<void> {
  const server = await startGuideServer(GUIDE_MOCK);
  for (const guide of positionals.length > 0 ? positionals : GUIDES) {
    const outputs: string[] = [];
    for (const sample of listSamples(guide))
      outputs.push(await runSample(sample, server, (folder) => draw(guide, folder)));
    if (outputs.length === 0) continue;
    const path = join(import.meta.dirname, "..", guide);
    writeFileSync(path, replaceSamples(readFileSync(path, "utf8"), outputs));
    echo(`${guide}: ${outputs.length} samples of output were written`);
  }
  await server.stop();
}

/** Draws the picture of the first guide from the run whose output it shows. */
async function draw(guide: string, folder: string): Promise<void> {
  if (guide !== "README.md") return;
  writeFileSync(join(import.meta.dirname, "..", PICTURE), await drawPicture(join(folder, "knee.json")));
  echo(`${PICTURE} was drawn`);
}
