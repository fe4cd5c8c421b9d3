import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { listSamples } from "../../compile/docs/samples.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../src/plan/mock.ts";
import { ROOT, startProcess, startRampart } from "../cli/rampart-process.ts";
import { blocksOf, commandsOf, GUIDES } from "../guides/blocks.ts";
import { type GuideFolder, type GuideServer, makeGuideFolder, startGuideServer } from "../guides/guide-folder.ts";
import { assertIsSampleOf } from "../guides/sample-heads.ts";

/**
 * Every command that a guide shows, against `rampart mock`: what stands in a block `sh` is run in a new folder with the files that the
 * guide shows, and of what stands in a block `text`, because it needs other machines or programs, Rampart's commands are checked with
 * `--dry-run`. Where the guide shows what a command prints, it prints that.
 */

const QUICKSTART = ["node_modules/.bin/node", "compile/quickstart.ts"];
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };

/**
 * What `rampart mock --latency 2ms --ttft 20ms --itl 2ms` serves, which the guides start in another terminal; but slower without tokens, so that
 * a closed loop waits here and does not compute.
 */
const MOCK: MockPlan = {
  ...DEFAULT_MOCK,
  latency: { kind: "constant", ms: 20 },
  llm: { ...DEFAULT_MOCK.llm, firstToken: { kind: "constant", ms: 20 }, tokenGapMs: 2 },
};

let server: GuideServer;

before(async () => {
  server = await startGuideServer(MOCK);
});
after(() => server.stop());

/** Runs a line. Returns what it printed. */
async function runShell(line: string, folder: GuideFolder): Promise<string> {
  const { code, out, err } = await folder.run(line);
  assert.ok(isMeasured(line, code), `exit code ${code}\n${out}\n${err}`);
  return out;
}

/** Whether levels become stable and limits are kept says something of this machine, and nothing of the command. */
function isMeasured(line: string, code: number | null): boolean {
  if (code === 0) return true;
  if (line.startsWith("rampart perf_analyzer")) return code === 2;
  return /^rampart (run|compare)/.test(line) && (code === 65 || code === 66);
}

/** A mock runs until it is stopped; it takes free ports here. */
async function runMock(line: string): Promise<string> {
  const args = line
    .replace(/--(http|grpc)-port \d+/g, "")
    .split(/\s+/)
    .slice(1);
  const running = startRampart([...args, "--http-port", "0", "--grpc-port", "0"]);
  await running.waitFor(/listening/);
  running.interrupt();
  const { code, out } = await running.result;
  assert.equal(code, 0);
  return out;
}

/** A script of package.json. The quickstart is run; the others take minutes, and CI runs them. */
async function runNpm(line: string): Promise<string> {
  const [, script = ""] = /^npm (?:run )?(\S+)$/.exec(line) ?? [];
  assert.ok(script in scripts, `${line}: package.json has no such script`);
  if (script !== "quickstart") return "";
  const { code, out, err } = await startProcess(QUICKSTART).result;
  assert.ok(isMeasured("rampart run", code), `exit code ${code}\n${out}\n${err}`);
  assert.match(out, /pass +error rate = 0 %/);
  return out;
}

/** Whether a line runs a file of `scenarios/`. `all-scenarios.test.ts` does so. */
function isOfScenarios(line: string): boolean {
  return /^rampart run scenarios\/[^;|]*$/.test(line);
}

function run(line: string, folder: GuideFolder): Promise<string> {
  if (isOfScenarios(line)) return runShell(`${line} --dry-run`, folder);
  if (line.startsWith("npm ")) return runNpm(line);
  return line.startsWith("rampart mock") ? runMock(line) : runShell(line, folder);
}

/** The commands of Rampart in a line that cannot be run here; those that `mpirun` starts are several. */
function ownCommandsIn(line: string): string[] {
  return line
    .replace(/^\.\/perf_analyzer/, "rampart perf_analyzer")
    .split(" : ")
    .flatMap((part) => /(^| )(rampart (perf_analyzer|genai-perf) .*)/.exec(part)?.[2] ?? []);
}

/** Commands of a guide run one after the other, because they use each other's files; those of guides run beside each other, and mostly wait. */
const AT_A_TIME = 3;

describe("each command runs", { concurrency: AT_A_TIME }, () => {
  for (const guide of GUIDES) describeGuide(guide);
});

function describeGuide(guide: string): void {
  const blocks = blocksOf(guide);
  const shown = blocks.filter(({ language }) => language === "sh").flatMap(commandsOf);
  const foreign = blocks
    .filter(({ language }) => language === "text")
    .flatMap(commandsOf)
    .flatMap(ownCommandsIn);
  if (shown.length + foreign.length === 0) return;
  const samples = listSamples(guide).filter(({ command, isLive }) => !isLive && !isOfScenarios(command));
  describe(guide, { concurrency: 1 }, () => {
    let folder: GuideFolder;
    before(() => {
      folder = makeGuideFolder(guide, server);
    });
    after(() => folder.remove());
    for (const [index, line] of shown.entries())
      test(`${index + 1}: ${line}`, async () => {
        const printed = await run(line, folder);
        for (const sample of samples.filter(({ command }) => command === line)) assertIsSampleOf(printed, sample);
      });
    for (const line of foreign) {
      // What follows -- is perf_analyzer's.
      const [own = "", ...passed] = line.split(" -- ");
      const dry = [`${own} --dry-run`, ...passed].join(" -- ");
      test(dry, async () => {
        await runShell(dry, folder);
      });
    }
  });
}

test("every example of the other kinds was found", () => {
  const lines = GUIDES.flatMap(blocksOf)
    .filter(({ language }) => language === "sh")
    .flatMap(commandsOf);
  for (const door of [
    "rampart run ",
    "rampart init ",
    "rampart mock ",
    "rampart perf_analyzer ",
    "rampart genai-perf profile ",
    "npm run quickstart",
    "npm test",
  ])
    assert.ok(
      lines.some((line) => line.startsWith(door)),
      door,
    );
});
