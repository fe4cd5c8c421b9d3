import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startMock } from "../../src/mock/server.ts";
import { MOCK_SERVICES } from "../../src/mock/services/table.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../src/plan/mock.ts";
import { ROOT, rampartCommand, startProcess, startRampart } from "../cli/rampart-process.ts";
import { commandsOf, GUIDES, readBlocks } from "../guides/blocks.ts";

/**
 * Every command that a guide shows, against `rampart mock`: what stands in a block `sh` is run in a new folder with the files that the
 * guide shows, and of what stands in a block `text`, because it needs other machines or programs, Rampart's commands are checked with
 * `--dry-run`.
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

let mock: Awaited<ReturnType<typeof startMock>>;
/** Addresses that the guides name, and those of the mock. */
let addresses: readonly (readonly [shown: string, real: string])[] = [];
let folder: string;

before(async () => {
  const switches = Object.values(MOCK_SERVICES).filter(({ value }) => value === undefined);
  const services = await Promise.all(switches.map((service) => service.create(MOCK, "")));
  mock = await startMock(MOCK, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 }, services);
  addresses = [
    ["localhost:8000", `127.0.0.1:${mock.httpPort}`],
    ["localhost:8001", `127.0.0.1:${mock.grpcPort}`],
  ];
});
after(() => mock.stop());

function withRealAddresses(text: string): string {
  return addresses.reduce((replaced, [shown, real]) => replaced.replaceAll(shown, real), text);
}

/** A folder with the files of a guide and the command `rampart`. */
function makeFolder(guide: string): void {
  folder = mkdtempSync(join(tmpdir(), "rampart-guides-"));
  for (const { file, text } of readBlocks(guide))
    if (file !== "") writeFileSync(join(folder, file), withRealAddresses(text));
  for (const name of ["scenarios", "test"]) symlinkSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, "test", "tokenize", "fixtures", "tiny"), join(folder, "tokenizer"));
  mkdirSync(join(folder, "bin"));
  const quoted = rampartCommand().map((word) => `'${word}'`);
  writeFileSync(join(folder, "bin", "rampart"), `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`);
  chmodSync(join(folder, "bin", "rampart"), 0o755);
}

async function runShell(line: string): Promise<void> {
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}` };
  const { code, out, err } = await startProcess(["sh", "-c", withRealAddresses(line)], { cwd: folder, env }).result;
  assert.ok(isMeasured(line, code), `exit code ${code}\n${out}\n${err}`);
}

/** Whether levels become stable and limits are kept says something of this machine, and nothing of the command. */
function isMeasured(line: string, code: number | null): boolean {
  if (code === 0) return true;
  if (line.startsWith("rampart perf_analyzer")) return code === 2;
  return line.startsWith("rampart run") && (code === 65 || code === 66);
}

/** A mock runs until it is stopped; it takes free ports here. */
async function runMock(line: string): Promise<void> {
  const args = line
    .replace(/--(http|grpc)-port \d+/g, "")
    .split(/\s+/)
    .slice(1);
  const running = startRampart([...args, "--http-port", "0", "--grpc-port", "0"]);
  await running.waitFor(/listening/);
  running.interrupt();
  assert.equal((await running.result).code, 0);
}

/** A script of package.json. The quickstart is run; the others take minutes, and CI runs them. */
async function runNpm(line: string): Promise<void> {
  const [, script = ""] = /^npm (?:run )?(\S+)$/.exec(line) ?? [];
  assert.ok(script in scripts, `${line}: package.json has no such script`);
  if (script !== "quickstart") return;
  const { code, out, err } = await startProcess(QUICKSTART).result;
  assert.ok(isMeasured("rampart run", code), `exit code ${code}\n${out}\n${err}`);
  assert.match(out, /pass {2}error rate = 0 %/);
}

function run(line: string): Promise<void> {
  // `all-scenarios.test.ts` runs them.
  if (/^rampart run scenarios\/[^;|]*$/.test(line)) return runShell(`${line} --dry-run`);
  if (line.startsWith("npm ")) return runNpm(line);
  return line.startsWith("rampart mock") ? runMock(line) : runShell(line);
}

/** The commands of Rampart in a line that cannot be run here; those that `mpirun` starts are several. */
function ownCommandsIn(line: string): string[] {
  return line
    .replace(/^\.\/perf_analyzer/, "rampart perf_analyzer")
    .split(" : ")
    .flatMap((part) => /(^| )(rampart (perf_analyzer|genai-perf) .*)/.exec(part)?.[2] ?? []);
}

for (const guide of GUIDES) {
  const blocks = readBlocks(guide);
  const shown = blocks.filter(({ language }) => language === "sh").flatMap(commandsOf);
  const foreign = blocks
    .filter(({ language }) => language === "text")
    .flatMap(commandsOf)
    .flatMap(ownCommandsIn);
  if (shown.length + foreign.length === 0) continue;
  describe(guide, () => {
    before(() => makeFolder(guide));
    after(() => rmSync(folder, { recursive: true, force: true }));
    for (const [index, line] of shown.entries()) test(`${index + 1}: ${line}`, () => run(line));
    for (const line of foreign) {
      // What follows -- is perf_analyzer's.
      const [own = "", ...passed] = line.split(" -- ");
      const dry = [`${own} --dry-run`, ...passed].join(" -- ");
      test(dry, () => runShell(dry));
    }
  });
}

test("every example of the other kinds was found", () => {
  const lines = GUIDES.flatMap(readBlocks)
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
