// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { commandUnderTest, type Outcome, runRampart } from "./command.ts";
import { copyModel, inProcessCommand, modelProcesses, openInstallation, waitForModelProcesses } from "./in-process.ts";

/** What differs between runtimes when Triton's library calls back: in C that Bun or a compiler compiles, or in JavaScript. */

/** Bun, in which the executable runs, has a C compiler of its own. */
const hasOwnCompiler = /bun|rampart$/.test(commandUnderTest[0] ?? "");

type Env = Readonly<Record<string, string>>;

const folder = makeFolder();
let directory: string;
let installed: Env;

before(async () => {
  ({ directory, env: installed } = await openInstallation());
});

/** A PATH with what Triton needs to start a Python model, and without a compiler. */
function withoutCompiler(): Env {
  const programs = join(folder, "programs");
  mkdirSync(programs, { recursive: true });
  const bash = execFileSync("sh", ["-c", "command -v bash"], { encoding: "utf8" }).trim();
  rmSync(join(programs, "bash"), { force: true });
  symlinkSync(bash, join(programs, "bash"));
  const python = (installed["PATH"] ?? "").split(":")[0];
  return { ...installed, PATH: `${python}:${programs}` };
}

const ways = [
  { way: "callbacks in C", env: () => installed, isTimedInScript: false },
  ...(hasOwnCompiler
    ? []
    : [{ way: "callbacks in JavaScript, without a C compiler", env: withoutCompiler, isTimedInScript: true }]),
];

for (const { way, env, isTimedInScript } of ways) {
  describe(way, () => {
    const measure = (model: string, ...flags: readonly string[]): Promise<Outcome> =>
      runRampart(inProcessCommand(directory, model, ...flags), { env: env() });

    test("a decoupled model's responses arrive with their content and times, and a report says what the times include", async () => {
      const inputs = join(folder, "repeat.json");
      const step = { IN: { content: [1, 2, 3], shape: [3] }, DELAY: { content: [1, 1, 1], shape: [3] }, WAIT: [1] };
      writeFileSync(inputs, JSON.stringify({ data: [step] }));
      const exported = join(folder, `${way}.json`);
      const flags = ["--streaming", "--request-count", "10", "--input-data", inputs, "--profile-export-file", exported];
      const outcome = await measure("repeat_int32", ...flags);
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.equal(/latencies include the way to JavaScript/.test(outcome.stderr), isTimedInScript, outcome.stderr);
      const { service_kind: kind, experiments } = JSON.parse(readFileSync(exported, "utf8")) as Export;
      assert.equal(kind, "triton_c_api");
      const requests = experiments[0]?.requests ?? [];
      assert.equal(requests.length, 10);
      for (const { response_outputs: outputs, response_timestamps: times, timestamp } of requests) {
        assert.deepEqual(
          outputs.map(({ OUT }) => OUT).filter((value) => value !== ""),
          [1, 2, 3],
        );
        assert.ok(times.every((time, index) => time >= (times[index - 1] ?? timestamp)));
      }
    });

    // The same C runs on all runtimes.
    const isSameElsewhere = !hasOwnCompiler && !isTimedInScript;
    if (!isSameElsewhere)
      test("outputs have places in shared memory, and are counted", async () => {
        const outcome = await measure("simple", "--request-count", "40", "--shared-memory", "system");
        assert.equal(outcome.code, 0, outcome.stderr);
        assert.match(outcome.stdout, / {4}Request count: 40\n/);
        assert.match(outcome.stdout, / {4}Successful request count: 40\n/);
      });

    // Without C, no code of ours runs in the killed process: its models' processes notice the end themselves, as those of a killed tritonserver do.
    if (isTimedInScript) return;
    test("a run that is killed leaves no process", async () => {
      const models = copyModel(folder, "slow");
      let pids: number[] = [];
      const flags = ["-p", "5000", "--model-repository", models];
      await runRampart(inProcessCommand(directory, "slow", ...flags), {
        env: env(),
        onStdout: (text, kill) => {
          if (pids.length > 0 || !text.includes("Request concurrency")) return;
          pids = modelProcesses(models);
          kill("SIGKILL");
        },
      });
      assert.ok(pids.length > 0);
      await waitForModelProcesses(models);
    });
  });
}

test("a model that does not load ends the run, with what the library writes", async () => {
  const models = copyModel(folder, "simple");
  writeFileSync(join(models, "simple/config.pbtxt"), 'backend: "no_such_backend"\n');
  const flags = ["--request-count", "1", "--model-repository", models];
  const outcome = await runRampart(inProcessCommand(directory, "simple", ...flags), { env: installed });
  assert.equal(outcome.code, 99);
  assert.match(outcome.stderr, /Triton did not start in process/);
  assert.match(outcome.stderr, /no_such_backend/);
  assert.deepEqual(modelProcesses(models), []);
});

interface Export {
  readonly service_kind: string;
  readonly experiments: readonly {
    readonly requests: readonly {
      readonly timestamp: number;
      readonly response_timestamps: readonly number[];
      readonly response_outputs: readonly { readonly OUT: unknown }[];
    }[];
  }[];
}
