import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { $, cd, chalk, echo } from "zx";
import { build, checksumLine, install, recordOrders } from "./build.ts";
import { installRuntime } from "./release/runtimes.ts";
import { suffixOf, TARGETS } from "./release/targets.ts";
import { smokeTest } from "./smoke-test.ts";

/**
 * `npm run compile [-- --target TARGET] [--outfile FILE]`: builds the executable with Bun and its checksum file, by default dist/rampart
 * for this host, and smoke-tests it.
 */

const root = join(import.meta.dirname, "..");
const work = join(root, "dist", ".build");

const { values } = parseArgs({ options: { target: { type: "string" }, outfile: { type: "string" } } });
const target = TARGETS.find(({ bun }) => bun === values.target);
cd(root);
$.quiet = true;
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const startMs = Date.now();
const ending = target === undefined ? "" : suffixOf(target);
const outfile = join(
  root,
  values.outfile ?? (values.target === undefined ? "dist/rampart" : `dist/rampart-${values.target}${ending}`),
);
if (values.target === undefined) await compileForHost(outfile);
else await compileForTarget(values.target, outfile);
const checksum = checksumLine(outfile);
writeFileSync(`${outfile}.sha256`, checksum);
rmSync(work, { recursive: true, force: true });
const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
echo(
  `compiled ${chalk.bold(outfile.slice(root.length + 1))} (${megabytes} MB) in ${((Date.now() - startMs) / 1000).toFixed(1)} s, sha256 ${checksum.split(" ")[0]}`,
);
if (values.target === undefined) {
  await smokeTest(outfile);
  echo("smoke test passed");
}

/** Builds twice: the first build records the order of first calls, and the second is laid out in that order. */
async function compileForHost(path: string): Promise<void> {
  const plain = join(work, "plain");
  await build(plain);
  const orders = await recordOrders(plain, work);
  const ordered = join(work, "ordered");
  await build(
    ordered,
    orders.map((order) => `--order=${order}`),
  );
  install(ordered, path);
}

/** A target that is not in the table is Bun's affair, which then also downloads the runtime. */
async function compileForTarget(name: string, path: string): Promise<void> {
  const flags = target === undefined ? [] : [`--runtime=${installRuntime(target).path}`];
  const built = join(work, `other${extname(path)}`);
  await build(built, [`--target=${name}`, ...flags]);
  install(built, path);
}
