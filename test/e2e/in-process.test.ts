import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { modelsFolder } from "../servers/triton.ts";
import { type Outcome, runRampart } from "./command.ts";
import { copyModel, inProcessCommand, modelProcesses, openInstallation, waitForModelProcesses } from "./in-process.ts";

/** Triton's library in a process of the run's own: what is counted, and how a run ends when that process does. */

const folder = makeFolder();
let directory: string;
let env: Readonly<Record<string, string>>;

before(async () => {
  const installed = await openInstallation();
  directory = installed.directory;
  // A shell that reads its user's configuration leaves a file.
  writeFileSync(join(folder, ".bashrc"), 'touch "$HOME/configured"\n');
  env = { ...installed.env, HOME: folder, SHLVL: "0" };
});

function inProcess(model: string, ...flags: readonly string[]): string[] {
  return inProcessCommand(directory, model, ...flags);
}

function measure(model: string, ...flags: readonly string[]): Promise<Outcome> {
  return runRampart(inProcess(model, ...flags), { env });
}

describe("counts", () => {
  const cases = [
    { name: "synchronous calls", model: "simple", flags: ["--request-count", "40", "--concurrency-range", "2"] },
    { name: "asynchronous calls", model: "simple", flags: ["--request-count", "40", "--async"] },
    { name: "a request rate", model: "simple", flags: ["--request-count", "40", "--request-rate-range", "40"] },
  ];
  for (const { name, model, flags } of cases) {
    test(`of the library equal those of the report: ${name}`, async () => {
      const outcome = await measure(model, ...flags);
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.match(
        outcome.stdout,
        /^server is alive!\n.*\*{3} Measurement Settings \*{3}\n.* {2}Service Kind: Triton C-API\n/s,
      );
      assert.match(outcome.stdout, / {4}Request count: 40\n/);
      assert.match(outcome.stdout, / {4}Inference count: 40\n/);
      assert.match(outcome.stdout, / {4}Successful request count: 40\n/);
      assert.doesNotMatch(outcome.stdout, /HTTP time|gRPC time/);
    });
  }

  test("of a scenario have the outputs that the model computes", async () => {
    const file = join(folder, "scenario.ts");
    const options = JSON.stringify({ directory, modelRepository: modelsFolder, model: "simple_sequence" });
    writeFileSync(
      file,
      `import { defineScenario, hold, tritonInProcess, errorRate } from "rampart";\nexport default defineScenario({ name: "in process", target: tritonInProcess(${options}), load: hold(2, { requests: 60 }), assert: [errorRate().is(0)] });\n`,
    );
    const outcome = await runRampart(["run", file], { env, cwd: folder });
    assert.equal(outcome.code, 0, `${outcome.stdout}\n${outcome.stderr}`);
  });
});

describe("an error ends the run with its reason", () => {
  test("of a model that fails each request", async () => {
    const outcome = await measure("failing", "--request-count", "10");
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /Thread \[0\] had error: .*deliberate failure/);
  });

  test("of a file that is not a library", async () => {
    const broken = join(folder, "broken");
    mkdirSync(join(broken, "lib"), { recursive: true });
    writeFileSync(join(broken, "lib/libtritonserver.so"), "no library");
    const outcome = await runRampart(
      [...inProcess("simple", "--request-count", "1"), "--triton-server-directory", broken],
      { env },
    );
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /broken\/lib\/libtritonserver\.so/);
    assert.match(outcome.stderr, /invalid ELF header|file too short/);
  });

  test("of a process that is killed while it is measured", async () => {
    const models = copyModel(folder, "slow");
    let isKilled = false;
    const outcome = await runRampart([...inProcess("slow", "-p", "2000"), "--model-repository", models], {
      env,
      onStdout: (text) => {
        if (isKilled || !text.includes("Request concurrency")) return;
        isKilled = true;
        for (const pid of modelProcesses(models)) {
          const { ppid } = parentOf(pid);
          if (ppid > 1) process.kill(ppid, "SIGKILL");
        }
      },
    });
    assert.ok(isKilled, outcome.stderr);
    assert.equal(outcome.code, 99, outcome.stderr);
    assert.match(outcome.stderr, /the process with the library has ended \(signal SIGKILL\)/);
    await waitForModelProcesses(models);
  });
});

test("Ctrl-C ends the run and leaves no process", async () => {
  const models = copyModel(folder, "slow");
  let isSignalled = false;
  const outcome = await runRampart([...inProcess("slow", "-p", "5000"), "--model-repository", models], {
    env,
    onStdout: (text, kill) => {
      if (isSignalled || !text.includes("Request concurrency")) return;
      isSignalled = true;
      kill("SIGINT");
    },
  });
  assert.match(outcome.stderr + outcome.stdout, /interrupted|No valid requests|Exiting|Waiting for in-flight/i);
  assert.deepEqual(modelProcesses(models), []);
});

test("models are started without the configuration of the user's shell", () => {
  assert.equal(existsSync(join(folder, "configured")), false);
});

test("nothing is left in shared memory", () => {
  const left = readdirSync("/dev/shm").filter((name) => name.startsWith("rampart_"));
  const running = execFileSync("ps", ["-eo", "pid="], { encoding: "utf8" }).split(/\s+/);
  const orphaned = left.filter((name) => !running.includes(name.split("_")[1] ?? ""));
  assert.deepEqual(orphaned, []);
});

describe("wrong use is refused before anything starts", () => {
  const cases = [
    {
      name: "a folder without the library",
      args: () => [...inProcess("simple"), "--triton-server-directory", modelsFolder],
      message: /there is no lib\/libtritonserver\.so; the folder contains alltypes, .*got .*triton-models/s,
    },
    {
      name: "a folder that is not there",
      args: () => [...inProcess("simple"), "--model-repository", join(folder, "none")],
      message: /--model-repository: .*none\)/,
    },
    {
      name: "a model that is not there",
      args: () => inProcess("simpel"),
      message: /-m: the model repository .* has no such model \(got simpel\)\s+It has alltypes, /,
    },
    {
      name: "metrics",
      args: () => [...inProcess("simple"), "--collect-metrics"],
      message: /Error: Server-side metric collection/,
    },
  ];
  for (const { name, args, message } of cases) {
    test(name, async () => {
      const outcome = await runRampart(args(), { env });
      assert.equal(outcome.code, 99, outcome.stdout);
      assert.match(outcome.stderr, message);
    });
  }
});

function parentOf(pid: number): { readonly ppid: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return { ppid: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0) };
}
