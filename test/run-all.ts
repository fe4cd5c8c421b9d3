import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { TestCase } from "./junit.ts";
import { compareNumbers, printResults } from "./print-results.ts";
import { clearWork, root, runCheck, runTests, work } from "./run-tests.ts";
import {
  conformance,
  goStub,
  llama,
  pythonClients,
  type ServerKind,
  startServers,
  tritonFor,
} from "./servers/shared.ts";

/**
 * `npm test [-- --only bun,deno,node,executable,checks,golden] [--all]`, `npm test -- --matrix`, or `npm test -- --release`: types, lint, format, and the tests. Prints `N passed` for each group
 * and ends with `N passed, N failed`.
 *
 * Every unit test runs on Bun; every end-to-end test and the tests of the command ({@link COMMAND_TESTS}) run on the executable, which is
 * what users run. Deno and Node run the tests of what can differ between runtimes ({@link RUNTIME_TESTS}), and all three run an end-to-end
 * smoke test from source. `--all` runs everything everywhere.
 *
 * `--matrix` runs the interoperability matrix instead, on the executable: real servers too large for every run of the tests.
 *
 * `--release` builds a release instead (`npm run release`) and tests its files, those that can run here in empty root directories.
 *
 * Most tests wait more than they compute, so lanes run beside each other: Bun's unit tests of the commands, which need no server; the others
 * of Bun; those of Deno; those of Node; the tests in which names of shared memory are used, among them the golden transcripts and the smoke
 * tests; the checks and the rest of the executable's tests. Those of Deno and Node start while the executable is compiled. Each lane has
 * servers of its own, because tests count their requests.
 */

const binaries = join(root, "node_modules", ".bin");
const executable = join(root, "dist", "rampart");
/** A test that hangs fails. */
const NODE_TIMEOUT = "--test-timeout=300000";
/** All files in one process, as Bun and Deno run them: most of them compute less than a process takes to start. */
const NODE_ONE_PROCESS = ["--test-isolation=none", "--test-force-exit"];
/** Node compiles the sources once, not in each of its hundreds of processes. */
const NODE_ENV = { NODE_COMPILE_CACHE: join(work, "node-compiled") };

/** What is run. */
type Runtime = "bun" | "deno" | "node";
type Group = Runtime | "checks" | "executable" | "golden";
const RUNTIMES: readonly Runtime[] = ["bun", "deno", "node"];
const GROUPS: readonly Group[] = ["checks", ...RUNTIMES, "executable", "golden"];

/** Tests of the command as a process. Bun runs them among the unit tests only where the executable is not tested. */
const COMMAND_TESTS = [
  "./test/cli/mock.test.ts",
  "./test/cli/perf-analyzer/effects-processes.test.ts",
  "./test/cli/run-exit-codes.test.ts",
  "./test/cli/run-flags.test.ts",
  "./test/cli/types/command.test.ts",
  "./test/scenario/hooks/hooks.test.ts",
  "./test/scenario/hooks/runtimes.test.ts",
  "./test/wizard/init.test.ts",
  "./test/wizard/terminal.test.ts",
];

/**
 * Beginnings of the paths of unit tests of what can differ between runtimes: sockets, threads, processes, files, terminals, regular
 * expressions and loading of code.
 */
const RUNTIME_TESTS: readonly string[] = [
  "cli/doctor/",
  "cli/genai-perf/profile/token-work",
  "cli/help/topics",
  "cli/mock",
  "cli/output-",
  "cli/perf-analyzer/effects-processes",
  "cli/signals",
  "fuzz/clients",
  "inputs/prompts/prompt-thread",
  "mock/",
  "run/ends",
  "run/conduct/conductor",
  "run/peers/mpi-peers",
  "run/run-plan",
  "run/send/burst-sharing",
  "run/send/driver",
  "run/open/process-end",
  "run/open/tls-files",
  "run/tokens",
  "runtime-entry/",
  "runtime/",
  "scenario/hooks/process-group",
  "scenario/hooks/runtimes",
  "scenario/load-module",
  "scenario/resolve",
  "servers/llm-stub",
  "tokenize/",
  "transport/",
  "wizard/terminal",
].map((path) => `./test/${path}`);

/** End-to-end tests that each runtime runs from source. */
const SMOKE_TESTS: readonly string[] = [
  "counts.test.ts",
  "generative.test.ts",
  "data-scenarios.test.ts",
  "scenario-packages.test.ts",
  "in-process-runtimes.test.ts",
  "scenarios.test.ts",
];

/** An end-to-end test in which names of shared memory are used. Bun runs it in the executable only. */
const SHARED_MEMORY_END_TO_END = "shared-memory.test.ts";

/** End-to-end tests of the executable only: other programs start it, or it takes them long. */
const EXECUTABLE_TESTS: readonly string[] = ["real-clients.test.ts", "real-genai-perf.test.ts", "torchserve.test.ts"];

/** Unit tests that may not run beside each other nor beside other tests in which the same names of shared memory are used. */
const SHARED_MEMORY_TESTS: readonly string[] = [
  "./test/cli/perf-analyzer/effects-shared-memory.test.ts",
  "./test/servers/stub.test.ts",
];

/** Where unit tests are that need no server of their lane and wait for much of their time. */
const CLI_TESTS = "./test/cli/";

/** The models of Triton that unit tests ask for. */
const UNIT_MODELS =
  "alltypes ensemble_two identity_bytes identity_fp32 optional_in repeat_int32 simple simple_cache simple_sequence".split(
    " ",
  );

const SOURCE: Readonly<Record<Runtime, readonly string[]>> = {
  bun: [join(binaries, "bun"), join(root, "src", "main.ts")],
  deno: [join(binaries, "deno"), "run", "-A", join(root, "src", "main.ts")],
  node: [join(binaries, "node"), join(root, "src", "main.ts")],
};

type Env = Record<string, string>;

const results = new Map<string, TestCase[]>();
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    all: { type: "boolean", default: false },
    matrix: { type: "boolean", default: false },
    release: { type: "boolean", default: false },
  },
});
const wanted = values.only === undefined ? GROUPS : GROUPS.filter((group) => values.only?.split(",").includes(group));

clearWork();
process.exit((await (values.matrix ? runMatrixOnly() : values.release ? runReleaseOnly() : runAll())) ? 0 : 1);

async function runAll(): Promise<boolean> {
  // They are listed in this order, whichever lane ends first.
  for (const name of ["checks", "servers", ...RUNTIMES, "executable", "golden transcripts"]) results.set(name, []);
  const unitTests = listUnitTests().filter((file) => !SHARED_MEMORY_TESTS.includes(file));
  add("checks", [checkRuntimeTests(unitTests)]);
  const sourceLanes = [runUnitLane("deno", unitTests), runUnitLane("node", unitTests)];
  // The executable is built even where only its tests are wanted.
  if (isWanted("executable") || isWanted("golden")) add("checks", [await runCompile()]);
  const commandTests = unitTests.filter((file) => file.startsWith(CLI_TESTS));
  const lanes = [runUnitLane("bun", unitTests), runCliLane(commandTests), runSharedMemoryLane(), runCommandLane()];
  await Promise.all([...sourceLanes, ...lanes]);
  add("equal numbers", compareNumbers());
  for (const [name, cases] of results) if (cases.length === 0) results.delete(name);
  return printResults(results);
}

async function runMatrixOnly(): Promise<boolean> {
  add("checks", [await runCompile()]);
  process.env["RAMPART_COMMAND"] = executable;
  const { runMatrix } = await import("./matrix/run-matrix.ts");
  add("matrix", await runMatrix(executable));
  return printResults(results);
}

async function runReleaseOnly(): Promise<boolean> {
  const name = "release";
  add(name, [await runCheck("the release is built", [join(binaries, "node"), "compile/release.ts"])]);
  const junit = join(work, "release.xml");
  const files = readdirSync(join(root, "test", "release")).filter((file) => file.endsWith(".test.ts"));
  const command = [...nodeTest(junit), ...files.map((file) => `./test/release/${file}`)];
  add(name, await runTests({ name, command, env: NODE_ENV, junit }));
  return printResults(results);
}

function isWanted(group: Group): boolean {
  return wanted.includes(group);
}

function add(name: string, cases: readonly TestCase[]): void {
  results.set(name, [...(results.get(name) ?? []), ...cases]);
}

/** Types, lint and format, and what can be checked of `deno compile`. */
async function runChecks(): Promise<void> {
  add("checks", [await runCheck("types", [join(binaries, "tsc"), "-p", "tsconfig.json"])]);
  add("checks", [await runCheck("lint and format", [join(binaries, "biome"), "check", "."])]);
  const deno = [join(binaries, "node"), "compile/compile-deno.ts", "--check"];
  add("checks", [await runCheck("deno check, bundle and module graph", deno)]);
}

function runCompile(): Promise<TestCase> {
  return runCheck("the executable compiles and runs", [join(binaries, "node"), "compile/compile.ts"]);
}

async function runUnitLane(runtime: Runtime, files: readonly string[]): Promise<void> {
  if (!isWanted(runtime)) return;
  const isChosen = (file: string): boolean =>
    runtime === "bun" ? !file.startsWith(CLI_TESTS) : values.all || RUNTIME_TESTS.some((path) => file.startsWith(path));
  const chosen = files.filter((file) => isChosen(file) && !isLeftToExecutable(runtime, file));
  await withServers([tritonFor(`unit tests on ${runtime}`, UNIT_MODELS), goStub, conformance], async (env) => {
    const settings = runtime === "bun" ? { ...env, ...commandOfBun() } : env;
    add(runtime, await runUnitTests(runtime, "unit tests", chosen, settings));
  });
}

async function runCliLane(files: readonly string[]): Promise<void> {
  if (!isWanted("bun")) return;
  const chosen = files.filter((file) => !isLeftToExecutable("bun", file));
  add("bun", await runUnitTests("bun", "unit tests of commands", chosen, commandOfBun()));
}

/** Whether Bun need not run a test, because the executable, which is Bun too, does. */
function isLeftToExecutable(runtime: Runtime, file: string): boolean {
  return runtime === "bun" && !values.all && COMMAND_TESTS.includes(file) && isWanted("executable");
}

/** What Bun's unit tests start as a process: the executable, which is Bun too and starts several times faster, or the source. */
function commandOfBun(): Env {
  return isWanted("executable") && !values.all ? { RAMPART_COMMAND: executable } : {};
}

/** Everything in which names of shared memory are used, one after the other. */
async function runSharedMemoryLane(): Promise<void> {
  if (!wanted.some((group) => group !== "checks")) return;
  await withServers([tritonFor("tests with shared memory"), llama], async (env) => {
    // The transcripts come first: their server has counted nothing yet.
    if (isWanted("golden")) add("golden transcripts", await runGolden(env));
    for (const runtime of RUNTIMES.filter(isWanted)) {
      const files = runtime === "bun" && !values.all ? [] : [...listEndToEnd(runtime), SHARED_MEMORY_END_TO_END];
      if (files.length > 0) add(runtime, await runEndToEnd(runtime, "end to end", env, files));
      add(runtime, await runUnitTests(runtime, "shared memory", SHARED_MEMORY_TESTS, env));
    }
    if (isWanted("executable"))
      add("executable", await runEndToEnd("executable", "shared memory", env, [SHARED_MEMORY_END_TO_END]));
  });
}

/** The checks, Bun's smoke tests and the other tests of the executable, for which NVIDIA's clients are installed meanwhile. */
async function runCommandLane(): Promise<void> {
  const clients = isWanted("executable") ? startServers([pythonClients]) : undefined;
  if (isWanted("checks")) await runChecks();
  const hasSmokeTests = isWanted("bun") && !values.all;
  if (clients === undefined && !hasSmokeTests) return;
  await withServers([tritonFor("tests of the command"), llama], async (env) => {
    if (hasSmokeTests) add("bun", await runEndToEnd("bun", "end to end", env, listEndToEnd("bun")));
    if (clients === undefined) return;
    add("servers", (await clients).cases);
    add("executable", await runEndToEnd("executable", "end to end", env, listEndToEnd("executable"), COMMAND_TESTS));
  });
}

/** Runs `use` with the variables of servers. One that does not start is a failed test. */
async function withServers(kinds: readonly ServerKind[], use: (env: Env) => Promise<void>): Promise<void> {
  const { env, cases, stop } = await startServers(kinds);
  add("servers", cases);
  try {
    await use(env);
  } finally {
    await stop();
  }
}

/** Every test but those that run the command as users do. */
function listUnitTests(): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !/^(e2e|golden|release)\b/.test(path))
    .map((path) => `./test/${path.replaceAll("\\", "/")}`)
    .sort();
}

/** A renamed file must not drop out of what runs on every runtime. */
function checkRuntimeTests(files: readonly string[]): TestCase {
  const missing = RUNTIME_TESTS.filter((path) => !files.some((file) => file.startsWith(path)));
  const failure = missing.length === 0 ? undefined : `no test has a path that begins with ${missing.join(", ")}`;
  return { name: "tests for every runtime exist", failure, isSkipped: false };
}

async function runUnitTests(runtime: Runtime, title: string, files: readonly string[], env: Env): Promise<TestCase[]> {
  const name = `${runtime} ${title}`;
  const junit = join(work, `${name.replaceAll(" ", "-")}.xml`);
  const bun = [join(binaries, "bun"), "test", "--timeout=300000", "--reporter=junit", `--reporter-outfile=${junit}`];
  const command = {
    bun: [...bun, ...files],
    deno: [join(binaries, "deno"), "test", "-A", "--no-check", `--junit-path=${junit}`, ...files],
    node: [...nodeTest(junit), ...NODE_ONE_PROCESS, ...files],
  }[runtime];
  return runTests({ name, command, env: { ...NODE_ENV, ...env }, junit });
}

/** End-to-end tests; Node runs them, whatever they run. One file at a time: they count a server's requests. */
async function runEndToEnd(
  runner: Runtime | "executable",
  title: string,
  env: Env,
  files: readonly string[],
  more: readonly string[] = [],
): Promise<TestCase[]> {
  const name = `${runner} ${title}`;
  const junit = join(work, `${name.replaceAll(" ", "-")}.xml`);
  const command = runner === "executable" ? executable : SOURCE[runner].join(" ");
  const record = join(work, `${runner}.numbers`);
  const settings = { ...NODE_ENV, ...env, RAMPART_COMMAND: command, RAMPART_E2E_RECORD: record };
  const paths = files.map((file) => `./test/e2e/${file}`);
  const node = [...nodeTest(junit), "--test-concurrency=1", ...paths, ...more];
  return runTests({ name, command: node, env: settings, junit });
}

/** The end-to-end tests of a runtime or the executable but that of shared memory. */
function listEndToEnd(runner: Runtime | "executable"): string[] {
  const isForSource = (file: string): boolean =>
    values.all ? !EXECUTABLE_TESTS.includes(file) : SMOKE_TESTS.includes(file);
  return readdirSync(join(root, "test", "e2e")).filter(
    (file) =>
      file.endsWith(".test.ts") && file !== SHARED_MEMORY_END_TO_END && (runner === "executable" || isForSource(file)),
  );
}

async function runGolden(env: Env): Promise<TestCase[]> {
  const junit = join(work, "golden.xml");
  const files = ["compare", "mismatches", "golden"].map((name) => `./test/golden/${name}.test.ts`);
  const command = [...nodeTest(junit), ...files];
  const settings = { ...NODE_ENV, ...env, RAMPART_COMMAND: `${executable} perf_analyzer` };
  return runTests({ name: "golden transcripts", command, env: settings, junit });
}

function nodeTest(junit: string): string[] {
  const reporter = ["--test-reporter=junit", `--test-reporter-destination=${junit}`];
  return [join(binaries, "node"), "--test", NODE_TIMEOUT, ...reporter];
}
