import { spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readJunit, type TestCase } from "./junit.ts";
import { startLlama } from "./servers/llama.ts";
import { startStub } from "./servers/stub.ts";
import { startTriton } from "./servers/triton.ts";

/**
 * `npm test [-- --only bun,deno,node,executable,checks,golden]`: types, lint, format, and every test on Bun, Deno, Node and the executable.
 * Prints `N passed` for each and ends with `N passed, N failed`.
 */

const root = join(import.meta.dirname, "..");
const binaries = join(root, "node_modules", ".bin");
const work = join(root, ".cache", "test");
const executable = join(root, "dist", "rampart");
const MAX_GROUP_MS = 20 * 60_000;
const MAX_FAILURE_LINES = 30;
/** A file that a failed test left open handles in ends too. */
const NODE_TIMEOUT = "--test-timeout=300000";

/** What is run, in this order. */
type Group = "checks" | "bun" | "deno" | "node" | "executable" | "golden";
const GROUPS: readonly Group[] = ["checks", "bun", "deno", "node", "executable", "golden"];

/** Tests of the command as a process, which the runtimes run among the unit tests. */
const COMMAND_TESTS = [
  "./test/cli/mock.test.ts",
  "./test/cli/perf-analyzer/effects-processes.test.ts",
  "./test/cli/run-exit-codes.test.ts",
  "./test/cli/run-flags.test.ts",
  "./test/wizard/init.test.ts",
  "./test/wizard/terminal.test.ts",
];

/** End-to-end tests of the executable only: other programs start it, or it takes them long. */
const EXECUTABLE_TESTS: readonly string[] = ["real-clients.test.ts"];

const SOURCE: Readonly<Record<"bun" | "deno" | "node", readonly string[]>> = {
  bun: [join(binaries, "bun"), join(root, "src", "main.ts")],
  deno: [join(binaries, "deno"), "run", "-A", join(root, "src", "main.ts")],
  node: [join(binaries, "node"), join(root, "src", "main.ts")],
};

const { values } = parseArgs({ options: { only: { type: "string" } } });
const wanted = values.only === undefined ? GROUPS : GROUPS.filter((group) => values.only?.split(",").includes(group));

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
process.exit((await runAll()) ? 0 : 1);

async function runAll(): Promise<boolean> {
  const results = new Map<string, TestCase[]>();
  const add = (name: string, cases: TestCase[]): void => {
    results.set(name, [...(results.get(name) ?? []), ...cases]);
  };
  if (wanted.includes("checks")) add("checks", await runChecks());
  // The executable is built even where only its tests are wanted.
  if (wanted.includes("executable") || wanted.includes("golden")) add("checks", [await runCompile()]);
  const servers = await startServers(add);
  try {
    for (const runtime of ["bun", "deno", "node"] as const) {
      if (!wanted.includes(runtime)) continue;
      add(runtime, await runUnitTests(runtime, servers.env));
      add(runtime, await runEndToEnd(runtime, SOURCE[runtime], servers.env, []));
    }
    if (wanted.includes("executable")) {
      add("executable", await runEndToEnd("executable", [executable], servers.env, COMMAND_TESTS));
    }
    if (wanted.includes("golden")) add("golden transcripts", await runGolden(servers.env));
  } finally {
    await servers.stop();
  }
  add("equal numbers", compareNumbers());
  return printResults(results);
}

/** Types, lint and format, and what can be checked of `deno compile`. */
async function runChecks(): Promise<TestCase[]> {
  return [
    await runCheck("types", [join(binaries, "tsc"), "-p", "tsconfig.json"]),
    await runCheck("lint and format", [join(binaries, "biome"), "check", "."]),
    await runCheck("deno check, bundle and module graph", [
      join(binaries, "node"),
      "compile/compile-deno.ts",
      "--check",
    ]),
  ];
}

function runCompile(): Promise<TestCase> {
  return runCheck("the executable compiles and runs", [join(binaries, "node"), "compile/compile.ts"]);
}

async function runCheck(name: string, command: readonly string[]): Promise<TestCase> {
  const log = join(work, `${name.replaceAll(/\W+/g, "-")}.log`);
  const code = await runCommand(command, {}, log);
  return { name, failure: code === 0 ? undefined : readFileSync(log, "utf8"), isSkipped: false };
}

/** The servers all groups share. One that does not start is a failed test. */
async function startServers(
  add: (name: string, cases: TestCase[]) => void,
): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const env: Record<string, string> = {};
  const stops: (() => Promise<void>)[] = [];
  const start = async (name: string, body: () => Promise<void>): Promise<void> => {
    try {
      await body();
      add("servers", [{ name, failure: undefined, isSkipped: false }]);
    } catch (error) {
      add("servers", [{ name, failure: String(error), isSkipped: false }]);
    }
  };
  await start("Triton starts", async () => {
    const startMs = Date.now();
    const triton = await startTriton();
    console.log(`Triton is ready after ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
    stops.push(() => triton.stop());
    env["RAMPART_TEST_TRITON_HTTP"] = `127.0.0.1:${triton.httpPort}`;
    env["RAMPART_TEST_TRITON_GRPC"] = `127.0.0.1:${triton.grpcPort}`;
  });
  await start("llama.cpp's server starts", async () => {
    const llama = await startLlama();
    stops.push(() => llama.stop());
    env["RAMPART_TEST_LLAMA"] = `127.0.0.1:${llama.port}`;
  });
  await start("the Go stub starts", async () => {
    const stub = await startStub();
    stops.push(() => stub.stop());
    env["RAMPART_TEST_STUB_HTTP"] = `127.0.0.1:${stub.httpPort}`;
    env["RAMPART_TEST_STUB_GRPC"] = `127.0.0.1:${stub.grpcPort}`;
  });
  return {
    env,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** Every test but those that run the command as users do. */
function listUnitTests(): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !path.startsWith("e2e") && !path.startsWith("golden"))
    .map((path) => `./test/${path.replaceAll("\\", "/")}`)
    .sort();
}

async function runUnitTests(runtime: "bun" | "deno" | "node", env: Record<string, string>): Promise<TestCase[]> {
  const junit = join(work, `${runtime}-unit.xml`);
  const files = listUnitTests();
  const command = {
    bun: [
      join(binaries, "bun"),
      "test",
      "--timeout=60000",
      "--reporter=junit",
      `--reporter-outfile=${junit}`,
      ...files,
    ],
    deno: [join(binaries, "deno"), "test", "-A", "--no-check", `--junit-path=${junit}`, ...files],
    node: [join(binaries, "node"), "--test", NODE_TIMEOUT, ...nodeReporter(junit), ...files],
  }[runtime];
  return runTests(`${runtime} unit tests`, command, env, junit);
}

/** The end-to-end suite; Node runs it, whatever it runs. One file at a time: they count a server's requests. */
async function runEndToEnd(
  name: string,
  command: readonly string[],
  env: Record<string, string>,
  more: readonly string[],
): Promise<TestCase[]> {
  const junit = join(work, `${name}-e2e.xml`);
  const files = readdirSync(join(root, "test", "e2e"))
    .filter((file) => file.endsWith(".test.ts") && (name === "executable" || !EXECUTABLE_TESTS.includes(file)))
    .map((file) => `./test/e2e/${file}`);
  const node = [
    join(binaries, "node"),
    "--test",
    NODE_TIMEOUT,
    "--test-concurrency=1",
    ...nodeReporter(junit),
    ...files,
    ...more,
  ];
  const record = join(work, `${name}.numbers`);
  const settings = { ...env, RAMPART_COMMAND: command.join(" "), RAMPART_E2E_RECORD: record };
  return runTests(`${name} end to end`, node, settings, junit);
}

async function runGolden(env: Record<string, string>): Promise<TestCase[]> {
  const junit = join(work, "golden.xml");
  const node = [join(binaries, "node"), "--test", NODE_TIMEOUT, ...nodeReporter(junit), "./test/golden/golden.test.ts"];
  return runTests("golden transcripts", node, { ...env, RAMPART_COMMAND: `${executable} perf_analyzer` }, junit);
}

function nodeReporter(junit: string): string[] {
  return ["--test-reporter=junit", `--test-reporter-destination=${junit}`];
}

async function runTests(
  name: string,
  command: readonly string[],
  env: Record<string, string>,
  junit: string,
): Promise<TestCase[]> {
  const startMs = Date.now();
  const log = join(work, `${name.replaceAll(" ", "-")}.log`);
  const code = await runCommand(command, env, log);
  const cases = existsSync(junit) ? readJunit(junit) : [];
  console.log(`${name}: ${cases.length} tests in ${((Date.now() - startMs) / 1000).toFixed(0)} s`);
  const hasFailure = cases.some(({ failure }) => failure !== undefined);
  if (code === 0 && cases.length > 0) return cases;
  if (hasFailure) return cases;
  // The runner failed without a failed test: that is one.
  return [...cases, { name: `${name} ends well`, failure: `exit code ${code}\n${tail(log)}`, isSkipped: false }];
}

/** Numbers that must not depend on what runs the command. */
function compareNumbers(): TestCase[] {
  const files = readdirSync(work).filter((file) => file.endsWith(".numbers"));
  if (files.length < 2) return [];
  const byTest = new Map<string, Map<string, string>>();
  for (const file of files) {
    for (const line of readFileSync(join(work, file), "utf8").trim().split("\n")) {
      const { test, numbers } = JSON.parse(line) as { test: string; numbers: object };
      const seen = byTest.get(test) ?? new Map<string, string>();
      byTest.set(test, seen.set(file.replace(".numbers", ""), JSON.stringify(numbers)));
    }
  }
  return [...byTest].map(([test, seen]) => {
    const isEqual = seen.size === files.length && new Set(seen.values()).size === 1;
    const text = [...seen].map(([name, numbers]) => `${name}: ${numbers}`).join("\n");
    return { name: test, failure: isEqual ? undefined : text, isSkipped: false };
  });
}

/** Runs a command with its output in a log. Returns its exit code; it is ended when it takes too long. */
function runCommand(command: readonly string[], env: Record<string, string>, log: string): Promise<number> {
  const [program, ...args] = command as [string, ...string[]];
  const output = createWriteStream(log);
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), MAX_GROUP_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      output.end(() => resolve(code ?? 1));
    });
  });
}

function tail(log: string): string {
  return readFileSync(log, "utf8").split("\n").slice(-MAX_FAILURE_LINES).join("\n");
}

/** Prints failures, the sum of each group, and the last line. Returns whether all passed. */
function printResults(results: ReadonlyMap<string, readonly TestCase[]>): boolean {
  let passed = 0;
  let failed = 0;
  const sums: string[] = [];
  for (const [name, cases] of results) {
    // A skipped test is one that did not pass.
    const bad = cases.filter(({ failure, isSkipped }) => failure !== undefined || isSkipped);
    for (const { name: test, failure } of bad) {
      const text = (failure ?? "skipped").split("\n").slice(0, MAX_FAILURE_LINES).join("\n  ");
      console.log(`\nFAILED ${name}: ${test}\n  ${text}`);
    }
    passed += cases.length - bad.length;
    failed += bad.length;
    sums.push(`${name}: ${cases.length - bad.length} passed${bad.length === 0 ? "" : `, ${bad.length} failed`}`);
  }
  console.log(`\n${sums.join("\n")}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}
