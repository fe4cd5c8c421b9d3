import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/commands.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import type { Answers } from "../../src/wizard/answers.ts";
import { GOALS } from "../../src/wizard/goals/goals.ts";
import { filesBeside } from "../../src/wizard/questions.ts";
import { filesOf, planOf } from "../../src/wizard/scenario-text.ts";
import { serverOf, WIZARD_TARGETS, type WizardTarget } from "../../src/wizard/targets.ts";
import { ROOT, rampartCommand, startProcess } from "../cli/rampart-process.ts";
import { runInFolder } from "../cli/run-in-folder.ts";
import { createMockServices } from "../servers/mock-services.ts";
import { TSC } from "../type-check.ts";
import { GOAL_ANSWERS, MORE_ANSWERS, TARGET_ANSWERS, writeRecordings } from "./goal-cases.ts";

/** Each goal with each target: what `rampart init` writes compiles, is formatted, is the plan of the answers, runs and passes. */

const MOCK = { latency: { kind: "constant", ms: 2 }, errorRatio: 0, responseBytes: 0 } as const;
const services = await createMockServices(MOCK);
const mock = await startMock(MOCK, LOOPBACK, services);
const other = await startMock(MOCK, LOOPBACK, services);
// In .cache, so that types and the formatter's settings are found above.
const folder = mkdtempSync(join(ROOT, ".cache", "wizard-"));
writeRecordings(folder);
/** A folder with all scenarios, for what needs no run. */
const checked = join(folder, "checked");
writeRecordings(checked);
after(async () => {
  await mock.stop();
  await other.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Case {
  readonly name: string;
  readonly goal: string;
  readonly target: string;
  /** Whether it is the first one of its goal and target. */
  readonly isFirst: boolean;
  readonly answers: Answers;
}

const cases: readonly Case[] = Object.entries(WIZARD_TARGETS).flatMap(([target, entry]) =>
  Object.keys(GOALS).flatMap((goal) => {
    const all = [GOAL_ANSWERS[goal] as Answers, ...(MORE_ANSWERS[goal] ?? [])].filter((given) =>
      isPossible(target, given, entry),
    );
    return all.map((given, index) => {
      const name = `${goal}-${target}${index === 0 ? "" : `-${index + 1}`}`;
      return {
        name,
        goal,
        target,
        isFirst: index === 0,
        answers: complete(target, { ...given, goal, save: `./${name}.ts` }),
      };
    });
  }),
);

for (const { answers } of cases)
  for (const { path, text } of filesOf(answers)) writeFileSync(join(checked, path), text);
/** Starts here, because the compiler has time to work while the runs wait. */
const compiled = compileAll();

/** Checks the types of all scenarios with the files that `rampart types` writes, under rules that are stricter still. */
async function compileAll(): Promise<{ readonly code: number | null; readonly out: string }> {
  const types = await startProcess([...rampartCommand(), "types", checked], { cwd: ROOT }).result;
  if (types.code !== 0) return { code: types.code, out: types.out + types.err };
  const written = JSON.parse(readFileSync(join(checked, "tsconfig.json"), "utf8")) as { compilerOptions: object };
  const strict = { noUnusedLocals: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true };
  const compilerOptions = { ...written.compilerOptions, ...strict, skipLibCheck: true, types: [] };
  writeFileSync(join(checked, "tsconfig.json"), JSON.stringify({ ...written, compilerOptions }));
  return startProcess([...TSC, "-p", checked, "--listFiles"], { cwd: checked }).result;
}

function isPossible(
  target: string,
  { recording, against }: Answers,
  { recorded, isStreaming, asks }: WizardTarget,
): boolean {
  if (recording === "requests") return recorded !== undefined;
  if (recording === "conversations") return isStreaming === true;
  if (against === "protocol") return target === "embedded";
  if (against === "server") return asks.includes("url");
  return against !== "model" || asks.includes("model");
}

function complete(target: string, { "ttft-limit": firstToken, ...given }: Answers): Answers {
  const isGrpc = serverOf({ target })?.protocol === "grpc";
  const port = (one: typeof mock): string => `127.0.0.1:${isGrpc ? one.grpcPort : one.httpPort}`;
  const entry = WIZARD_TARGETS[target] as WizardTarget;
  const { isl: _isl, osl: _osl, files: _files, ...withoutInputs } = TARGET_ANSWERS[target] ?? {};
  const sendsFile = given.recording === "requests" || given.recording === "conversations";
  const isOther = given.against === "model";
  return {
    target,
    ...(sendsFile ? withoutInputs : TARGET_ANSWERS[target]),
    ...(entry.asks.includes("url") ? { url: port(mock) } : {}),
    ...(sendsFile ? { file: fileFor(given.recording, entry) } : {}),
    ...(given.against === "server" ? { "other-url": port(other) } : {}),
    ...(isOther ? { "other-model": otherModel(target) } : {}),
    ...(sendsFile && target === "http" ? { path: "/v1/chat/completions" } : {}),
    ...(entry.isStreaming === true && firstToken !== undefined ? { "ttft-limit": firstToken } : {}),
    ...given,
  };
}

function fileFor(recording: string | undefined, { recorded }: WizardTarget): string {
  if (recording === "conversations") return "turns.jsonl";
  return recorded === "json" ? "tensors.json" : "times.jsonl";
}

function otherModel(target: string): string {
  if (target === "grpc") return "demo.v1.Text/Repeat";
  return target === "openai" ? "another" : "simple_sequence";
}

/** Whether a case is run: the first one of each goal, and all with a language model. */
function isRun({ target, answers, isFirst }: Case): boolean {
  // Triton's library is not there; and a run until it is stable takes 18 s.
  if (target === "tritonInProcess" || answers.for === "stable") return false;
  return isFirst || target === "openai";
}

test("every goal has a case with every target", () => {
  const pairs = new Set(cases.map(({ goal, target }) => `${goal} ${target}`));
  for (const goal of Object.keys(GOALS))
    for (const target of Object.keys(WIZARD_TARGETS)) assert.ok(pairs.has(`${goal} ${target}`), `${goal} ${target}`);
});

interface Ended {
  readonly code: number;
  readonly text: string;
}

/** Answers the wizard's questions by options, and lets it run what it writes. */
async function init(answers: Answers): Promise<Ended> {
  let text = "";
  const add = (more: string): void => {
    text += more;
  };
  const io = { out: add, err: add, onInterrupt: () => () => {}, loadApi: () => import("../../src/index.ts") };
  const flags = Object.entries(answers).map(([id, answer]) => `--${id}=${answer}`);
  const code = await runCommandLine("rampart", ["init", ...flags, "--no-server", "--run"], io);
  return { code, text };
}

const MOST_TRIES = 4;

/** On a very busy machine no request may end within the time. */
async function run(answers: Answers, tries = 1): Promise<Ended> {
  const ended = await init(answers);
  const isEmpty =
    (ended.code === 69 && ended.text.includes("no request succeeded ")) ||
    (ended.code === 65 && /^FAIL .*nothing measured/m.test(ended.text)) ||
    /^PARTIAL .*\n[\s\S]*and none\s+of them ended in time/m.test(ended.text);
  if (!isEmpty || tries === MOST_TRIES) return ended;
  const out = answers.save ?? "";
  for (const path of [out, ...filesBeside(out, answers)]) rmSync(path, { force: true });
  return run(answers, tries + 1);
}

/** Most of the time of a run is waiting. */
const AT_ONCE = 8;

/** Runs all cases, some at a time: the next one begins when any of them ends. */
function runAll(all: readonly Case[]): ReadonlyMap<Case, Promise<Ended>> {
  const runs = new Map<Case, Promise<Ended>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async (): Promise<void> => {
    if (running === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  for (const one of all) {
    const ended = turn().then(() => run(one.answers).finally(leave));
    // Each run is awaited by its own test.
    ended.catch(() => {});
    runs.set(one, ended);
  }
  return runs;
}

/** On a busy machine latency may drift or stay high, requests may be too few for a percentile, and a search may be unsure. Nothing else may fail. */
function assertPassed({ code, text }: Ended, { goal, answers }: Case): void {
  assert.match(text, /^The run takes /m);
  for (const { path, text: expected } of filesOf(answers)) assert.equal(readFileSync(path, "utf8"), expected);
  const verdicts = [...text.matchAll(/^(?:PASSED|FAILED|UNRESOLVED|MEASURED|PARTIAL) {2}/gm)];
  const scenarios = filesOf(answers).length;
  assert.equal(verdicts.length, scenarios, text);
  assert.equal([...text.matchAll(/ 3 runs {3}/g)].length, scenarios === 1 ? 0 : scenarios, text);
  assert.doesNotMatch(text, /^Failures$/m);
  const failures = text.split("\n").filter((line) => line.startsWith("  FAIL "));
  const isOverTime = goal === "soak" || goal === "spike";
  const own = failures.filter((line) => !isOverTime || /error rate|< 1 h/.test(line));
  assert.deepEqual(own, [], text);
  const isUnsure = goal === "limit" && text.includes("UNRESOLVED");
  // A level of 250 ms may have too few requests for a p99, and a busy client may not send all of its load.
  const isOpen = /^ {2}unresolved /m.test(text) || text.includes("the client could not send the load");
  assert.equal(code, failures.length > 0 ? 65 : isUnsure || isOpen ? 66 : 0, text);
}

describe("a written scenario", () => {
  const started = process.cwd();
  before(() => process.chdir(folder));
  after(() => process.chdir(started));
  let runs: ReadonlyMap<Case, Promise<Ended>> = new Map();

  for (const target of Object.keys(WIZARD_TARGETS).filter((name) => name !== "tritonInProcess"))
    test(`passes with each goal (${target})`, async () => {
      if (runs.size === 0) runs = runAll(cases.filter(isRun));
      const own = [...runs].filter(([one]) => one.target === target);
      assert.ok(own.length >= Object.keys(GOALS).length);
      for (const [one, ended] of own) assertPassed(await ended, one);
    });

  test("fails where half of the requests fail, with each goal", async () => {
    await using broken = await startMock({ ...MOCK, errorRatio: 0.5 }, LOOPBACK, []);
    const url = `127.0.0.1:${broken.httpPort}`;
    const all = cases
      .filter(({ target, isFirst }) => target === "triton" && isFirst)
      .map((one) => ({ ...one, answers: { ...one.answers, url, save: `./failing-${one.goal}.ts` } }));
    assert.equal(all.length, Object.keys(GOALS).length);
    for (const [{ goal }, ended] of runAll(all)) {
      const { code, text } = await ended;
      assert.equal(code, 65, `${goal}: ${text}`);
      assert.match(
        text,
        goal === "limit" ? /^ {2}no load keeps all limits$/m : /^ {2}FAIL {2}.*error rate (= 0|< 1) %/m,
      );
    }
  });

  for (const target of Object.keys(WIZARD_TARGETS))
    test(`is the plan of its answers (${target})`, async () => {
      for (const { name, answers } of cases.filter((one) => one.target === target)) {
        const { code, text } = await runInFolder(checked, ["run", `${name}.ts`, "--dry-run"]);
        assert.equal(code, 0, text);
        // Its paths are those of the other folder.
        const { expectedTime: _, ...plan } = JSON.parse(text.replaceAll(checked, folder)) as { expectedTime?: object };
        assert.deepEqual(plan, JSON.parse(JSON.stringify(planOf(answers))), name);
      }
    });

  test("compiles under strict rules, with the types that users have and no import that is not used", async () => {
    const { code, out } = await compiled;
    assert.equal(code, 0, out);
    for (const { name } of cases) assert.ok(out.includes(`/${name}.ts\n`), name);
    assert.match(readFileSync(join(checked, "comparison-triton-other.ts"), "utf8"), /\.\.\.base\.definition/);
  });

  test("is formatted like the examples", async () => {
    // Biome's settings leave .cache out.
    const settings = JSON.parse(readFileSync(join(ROOT, ".biome.json"), "utf8")) as { files?: unknown };
    const { files: _files, ...rest } = settings;
    writeFileSync(join(checked, "biome.json"), JSON.stringify({ ...rest, root: true, files: { includes: ["*.ts"] } }));
    const written = readdirSync(checked).filter((name) => /(?<!\.d)\.ts$/.test(name));
    const biome = join(ROOT, "node_modules", ".bin", "biome");
    const { code, out, err } = await startProcess([biome, "check", "--error-on-warnings", ...written], { cwd: checked })
      .result;
    assert.equal(code, 0, out + err);
    assert.match(out + err, /Checked \d{2,} files/);
  });
});
