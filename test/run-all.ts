import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { COLD } from "../src/runtime/cold-start.ts";
import { FEW_CASES } from "./few-cases.ts";
import type { TestCase } from "./junit.ts";
import { compareNumbers, printResults } from "./print-results.ts";
import { clearWork, root, runCheck, runTests, SEED_VARIABLE, work } from "./run-tests.ts";
import { isEndToEnd, RUNTIMES, type Runner, type RunsOn, type Runtime, runsOn } from "./runs-on.ts";
import {
  conformance,
  goStub,
  llama,
  pythonClients,
  type ServerKind,
  startServers,
  tritonFor,
} from "./servers/shared.ts";
import { LIMIT } from "./time-limit.ts";
import { nodeReports } from "./watch-memory.ts";

/**
 * `npm test [-- --only bun,deno,node,executable,checks,golden] [--all]`, `npm test -- --matrix`, or `npm test -- --release`: types, lint, format, and the tests. Prints `N passed` for each group
 * and ends with `N passed, N failed`.
 *
 * Where a test runs, its folder or its first line says (`runs-on.ts`): unit tests on Bun, end-to-end tests and tests of the command on the
 * executable, which is what users run, and tests of what can differ between runtimes on Deno and Node too. `--all` runs everything everywhere.
 *
 * `--matrix` runs the interoperability matrix instead, on the executable: real servers too large for every run of the tests.
 *
 * `--release` builds a release instead (`npm run release`) and tests its files, those that can run here in empty root directories.
 *
 * Many tests wait more than they compute, so lanes run beside each other: Bun's unit tests, two files at a time; those of Deno, then those of
 * Node; the unit tests of clients on each runtime, which need servers; the tests in which names of shared memory are used, among them the golden
 * transcripts and the end-to-end tests on Deno and Node; the checks and then the executable's tests with servers that they share; the executable's
 * other tests. More would wait for the two cores. The checks and the tests of Deno start while the executable is compiled. Each lane has servers of its own,
 * because tests count their requests. Some tests of the longest lanes run at the end of the shortest ones, so that all end at about the same time.
 */

const binaries = join(root, "node_modules", ".bin");
const executable = join(root, "dist", "rampart");
/** A test that hangs fails. */
const NODE_TIMEOUT = `--test-timeout=${LIMIT.timeout}`;
/** All files in one process, as Bun and Deno run them: most of them compute less than a process takes to start. */
const NODE_ONE_PROCESS = ["--test-isolation=none", "--test-force-exit"];
/** Each test's name as it begins, in the log, and a report where its process takes too much memory. */
const NODE_RUNNING = ["--import", join(root, "test", "running-tests.ts"), ...nodeReports(work)];
const SEED_MODULE = join(root, "test", "seed.ts");
/** Of the properties of this run, which take other values in each run. */
const seed = process.env[SEED_VARIABLE] ?? String(randomInt(2 ** 31));
/** Node compiles the sources once, not in each of its hundreds of processes; and hundreds of runs and mocks start, few of which are measured. */
const ENV = { NODE_COMPILE_CACHE: join(work, "node-compiled"), [COLD]: "1", [SEED_VARIABLE]: seed };

/** What is run. */
type Group = Runner | "checks" | "golden";
const GROUPS: readonly Group[] = ["checks", ...RUNTIMES, "executable", "golden"];

/** Files of Bun's unit tests that run at a time, each in one of as many processes. With more, tests wait for the cores. */
const BUN_FILES = 2;
/** Tests of the two longest lanes that run at the end of others: Bun's after the executable's on shared servers, the executable's after clients. */
const LATE_TESTS = ["./test/cli/genai-perf/", "./test/wizard/", "./test/e2e/shown-commands.test.ts"];
/** Unit tests that need the servers of their lane. */
const CLIENT_TESTS = ["./test/transport/", "./test/service/"];

/** The models of Triton that unit tests ask for. */
const UNIT_MODELS =
  "alltypes ensemble_two identity_bytes identity_fp32 optional_in repeat_int32 simple simple_cache simple_sequence".split(
    " ",
  );

const SOURCE = join(root, "src", "main.ts");
/** JavaScript of the source: Node starts it in half the time, and tests start hundreds of processes. */
const bundle = join(work, "bundle");
const BUNDLE = [join(binaries, "bun"), "compile/bundle.ts", "--outdir", bundle];
const SMALL_RUN = ["run", "scenarios/ramp.yaml", "--set", "users=1"];

/** What runs a file. */
const RUN: Readonly<Record<Runtime, readonly string[]>> = {
  bun: [join(binaries, "bun")],
  deno: [join(binaries, "deno"), "run", "-A"],
  node: [join(binaries, "node")],
};

type Env = Record<string, string>;
/** Of tests that share no servers. */
const NO_SERVERS: Env = {};

const results = new Map<string, TestCase[]>();
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    all: { type: "boolean", default: false },
    matrix: { type: "boolean", default: false },
    release: { type: "boolean", default: false },
  },
});
const files: ReadonlyMap<string, RunsOn> = new Map(listFiles().map((path) => [path, runsOn(root, path)]));
const wanted = values.only === undefined ? GROUPS : GROUPS.filter((group) => values.only?.split(",").includes(group));

clearWork();
console.log(`${SEED_VARIABLE}=${seed}`);
process.exit((await (values.matrix ? runMatrixOnly() : values.release ? runReleaseOnly() : runAll())) ? 0 : 1);

async function runAll(): Promise<boolean> {
  // They are listed in this order, whichever lane ends first.
  for (const name of ["checks", "servers", ...RUNTIMES, "executable", "golden transcripts"]) results.set(name, []);
  // What is built first uses one core at a time.
  const checked = isWanted("checks") ? runSourceChecks() : Promise.resolve();
  if (isWanted("node")) {
    add("checks", [await runCheck("the source is bundled", BUNDLE)]);
    const hook = [...RUN.deno, join(bundle, "main.js"), "run", "test/scenario/hooks/shell-hook.ts"];
    add("checks", [await runCheck("the bundle starts programs on Deno", hook)]);
  }
  const clients = runClientLane();
  const early = [runSourceLane(), clients];
  // The executable is built even where only its tests are wanted.
  if (isWanted("executable") || isWanted("golden")) add("checks", [await runCompile()]);
  const lanes = [
    runBunLane(),
    runSharedMemoryLane(),
    runCommandLane(),
    runLateCommands(clients),
    runSharingLane(checked),
  ];
  await Promise.all([...early, ...lanes]);
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
  const names = readdirSync(join(root, "test", "release")).filter((file) => file.endsWith(".test.ts"));
  const command = [...nodeTest(junit), ...names.map((file) => `./test/release/${file}`)];
  add(name, await runTests({ name, command, env: ENV, junit }));
  return printResults(results);
}

function isWanted(group: Group): boolean {
  return wanted.includes(group);
}

function add(name: string, cases: readonly TestCase[]): void {
  results.set(name, [...(results.get(name) ?? []), ...cases]);
}

/** Types, lint and format. */
async function runSourceChecks(): Promise<void> {
  add("checks", [await runCheck("types", [join(binaries, "tsc"), "-p", "tsconfig.json", "--singleThreaded"])]);
  add("checks", [await runCheck("lint and format", [join(binaries, "biome"), "check", "."])]);
}

/** What can be checked of `deno compile`, and that the source runs as it is. */
async function runStartChecks(): Promise<void> {
  const made = isWanted("node") ? ["--bundle", bundle] : [];
  const deno = [join(binaries, "node"), "compile/compile-deno.ts", "--check", ...made];
  add("checks", [await runCheck("deno check, bundle and module graph", deno)]);
  add("checks", [await runCheck("the source runs on Node", [...RUN.node, SOURCE, ...SMALL_RUN])]);
}

function runCompile(): Promise<TestCase> {
  return runCheck("the executable compiles and runs", [join(binaries, "node"), "compile/compile.ts"]);
}

/** Unit tests on Deno, then on Node: some of those of Bun. */
async function runSourceLane(): Promise<void> {
  for (const runtime of (["deno", "node"] as const).filter(isWanted))
    add(runtime, await runUnitTests({ runtime, title: "unit tests", paths: otherUnitTestsOf(runtime) }));
}

/** The unit tests of clients, on Deno, Node and Bun. */
async function runClientLane(): Promise<void> {
  const runtimes = (["deno", "node", "bun"] as const).filter(isWanted);
  if (runtimes.length === 0) return;
  await withServers([tritonFor("unit tests of clients", UNIT_MODELS), goStub, conformance], async (env) => {
    for (const runtime of runtimes) {
      const paths = unitTestsOf(runtime).filter(isOfClients);
      add(runtime, await runUnitTests({ runtime, title: "unit tests of clients", paths, env }));
    }
  });
}

/** Bun's unit tests, except those of clients and the late ones. */
async function runBunLane(): Promise<void> {
  if (!isWanted("bun")) return;
  const paths = otherUnitTestsOf("bun").filter((path) => !isLate(path));
  add("bun", await runUnitTests({ runtime: "bun", title: "unit tests", paths, filesAtOnce: BUN_FILES }));
}

function isLate(path: string): boolean {
  return LATE_TESTS.some((late) => path.startsWith(late));
}

function isOfClients(path: string): boolean {
  return CLIENT_TESTS.some((folder) => path.startsWith(folder));
}

function otherUnitTestsOf(runtime: Runtime): string[] {
  return unitTestsOf(runtime).filter((path) => !isOfClients(path));
}

/** Whether a file runs there now. What is for the executable runs on Bun, which it is too, where it is not tested. */
function isChosen({ runners, isOnly }: RunsOn, runner: Runner): boolean {
  if (runners.includes(runner) || (values.all && !isOnly)) return true;
  return runner === "bun" && !isOnly && !isWanted("executable") && runners.includes("executable");
}

function filesOf(runner: Runner, isWhat: (path: string, on: RunsOn) => boolean): string[] {
  return [...files].filter(([path, on]) => isChosen(on, runner) && isWhat(path, on)).map(([path]) => path);
}

function unitTestsOf(runtime: Runtime): string[] {
  return filesOf(runtime, (path, { isAlone }) => !isEndToEnd(path) && !isAlone);
}

/** What tests start as a process. On Node it is the bundle, and a check starts the source itself. */
function commandOf(runner: Runner): string {
  if (runner === "executable") return executable;
  return [...RUN[runner], runner === "node" ? join(bundle, "main.js") : SOURCE].join(" ");
}

/** Everything in which names of shared memory are used, one after the other. */
async function runSharedMemoryLane(): Promise<void> {
  if (!wanted.some((group) => group !== "checks")) return;
  await withServers([tritonFor("tests with shared memory"), llama], async (env) => {
    // The transcripts come first: their server has counted nothing yet.
    if (isWanted("golden")) add("golden transcripts", await runGolden(env));
    for (const runtime of RUNTIMES.filter(isWanted)) {
      const chosen = runtime === "bun" && !values.all ? [] : filesOf(runtime, isEndToEnd);
      if (chosen.length > 0) add(runtime, await runEndToEnd(runtime, "end to end", env, chosen));
      const alone = filesOf(runtime, (path, { isAlone }) => !isEndToEnd(path) && isAlone);
      add(runtime, await runUnitTests({ runtime, title: "shared memory", paths: alone, env }));
    }
    if (!isWanted("executable")) return;
    const alone = filesOf("executable", (path, { isAlone }) => isEndToEnd(path) && isAlone);
    add("executable", await runEndToEnd("executable", "shared memory", env, alone));
  });
}

/** The tests of the executable that share no server, except the late ones. */
async function runCommandLane(): Promise<void> {
  if (isWanted("executable")) await runOwnServers("end to end", (path) => !isLate(path));
}

/** The late tests of the executable. @param before the lane that they continue */
async function runLateCommands(before: Promise<void>): Promise<void> {
  await before;
  if (isWanted("executable")) await runOwnServers("end to end, late", isLate);
}

/** Tests of the executable that share no server. */
async function runOwnServers(title: string, isWhat: (path: string) => boolean): Promise<void> {
  const own = filesOf("executable", (path, on) => !on.isAlone && !on.sharesServers && isWhat(path));
  add("executable", await runEndToEnd("executable", title, NO_SERVERS, own));
}

/** More checks, then the tests of the executable that share servers, then Bun's late unit tests. @param before the lane that it continues */
async function runSharingLane(before: Promise<void>): Promise<void> {
  await before;
  await runSharingTests();
  if (!isWanted("bun")) return;
  const paths = otherUnitTestsOf("bun").filter(isLate);
  add("bun", await runUnitTests({ runtime: "bun", title: "unit tests, late", paths }));
}

/** Checks, then the tests of the executable that share servers, for which NVIDIA's clients are installed meanwhile. */
async function runSharingTests(): Promise<void> {
  const clients = isWanted("executable") ? startServers([pythonClients]) : undefined;
  if (isWanted("checks")) await runStartChecks();
  if (clients === undefined) return;
  await withServers([tritonFor("tests of the command"), llama], async (env) => {
    add("servers", (await clients).cases);
    const chosen = filesOf("executable", (_, { isAlone, sharesServers }) => !isAlone && sharesServers);
    add("executable", await runEndToEnd("executable", "end to end on shared servers", env, chosen));
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

/** Every test but the golden transcripts and those of a release. */
function listFiles(): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !/^(golden\/(compare|golden|mismatches)|release\/)/.test(path))
    .map((path) => `./test/${path.replaceAll("\\", "/")}`)
    .sort();
}

interface UnitTests {
  readonly runtime: Runtime;
  readonly title: string;
  readonly paths: readonly string[];
  /** Where their servers are. Default: they share none. */
  readonly env?: Env;
  /** Files that run at a time, on Bun. Default: 1. */
  readonly filesAtOnce?: number;
}

async function runUnitTests({ runtime, title, paths, env, filesAtOnce }: UnitTests): Promise<TestCase[]> {
  const name = `${runtime} ${title}`;
  const junit = join(work, `${name.replaceAll(" ", "-")}.xml`);
  const files = filesAtOnce === undefined ? [] : [`--parallel=${filesAtOnce}`, "--no-isolate"];
  const bun = [
    join(binaries, "bun"),
    "test",
    ...files,
    `--timeout=${LIMIT.timeout}`,
    "--reporter=junit",
    `--reporter-outfile=${junit}`,
  ];
  const command = {
    bun: [...bun, "--preload", SEED_MODULE, ...paths],
    deno: [
      join(binaries, "deno"),
      "test",
      "-A",
      "--no-check",
      "--preload",
      SEED_MODULE,
      `--junit-path=${junit}`,
      ...paths,
    ],
    node: [...nodeTest(junit), ...NODE_ONE_PROCESS, ...NODE_RUNNING, "--import", SEED_MODULE, ...paths],
  }[runtime];
  // The executable is Bun too, and starts several times faster than the source.
  const isExecutable = runtime === "bun" && isWanted("executable") && !values.all;
  const started = { RAMPART_COMMAND: commandOf(isExecutable ? "executable" : runtime) };
  return runTests({ name, command, env: { ...ENV, ...started, ...fewOn(runtime), ...env }, junit });
}

/** The variable that asks for a few cases on Deno and Node. */
function fewOn(runner: Runner): Env {
  return (runner === "deno" || runner === "node") && !values.all ? { [FEW_CASES]: "1" } : {};
}

/** Tests of the command; Node runs them, whatever they run. One file at a time: they count a server's requests. */
async function runEndToEnd(runner: Runner, title: string, env: Env, paths: readonly string[]): Promise<TestCase[]> {
  const name = `${runner} ${title}`;
  const junit = join(work, `${name.replaceAll(" ", "-")}.xml`);
  const record = join(work, `${runner}.numbers`);
  const settings = { ...ENV, ...env, ...fewOn(runner), RAMPART_COMMAND: commandOf(runner), RAMPART_E2E_RECORD: record };
  const node = [...nodeTest(junit), "--test-concurrency=1", ...paths];
  return runTests({ name, command: node, env: settings, junit });
}

async function runGolden(env: Env): Promise<TestCase[]> {
  const junit = join(work, "golden.xml");
  const files = ["compare", "mismatches", "golden"].map((name) => `./test/golden/${name}.test.ts`);
  const command = [...nodeTest(junit), ...files];
  const settings = { ...ENV, ...env, RAMPART_COMMAND: `${executable} perf_analyzer` };
  return runTests({ name: "golden transcripts", command, env: settings, junit });
}

function nodeTest(junit: string): string[] {
  const reporter = ["--test-reporter=junit", `--test-reporter-destination=${junit}`];
  return [join(binaries, "node"), "--test", NODE_TIMEOUT, ...reporter];
}
