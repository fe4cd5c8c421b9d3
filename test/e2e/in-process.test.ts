import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { modelsFolder } from "../servers/triton.ts";
import { installTriton, readInstallation } from "../servers/triton-install.ts";
import { commandUnderTest, makeFolder, type Outcome, runRampart } from "./command.ts";

/** Triton's library in a process of the run's own: what is counted, and how a run ends when that process does. */

const root = join(import.meta.dirname, "..", "..");
/** Only Bun, in which the executable runs, can hold the library: Node and Deno start it. */
const needsBun = !/bun|rampart$/.test(commandUnderTest[0] ?? "");
const timeoutMs = 60_000;

let folder: string;
let directory: string;
let env: Readonly<Record<string, string>>;

before(async () => {
  folder = makeFolder();
  const installed = readInstallation(await installTriton());
  directory = join(installed.backends, "..");
  const path = `${installed.env["PATH"]}:${join(root, "node_modules/.bin")}`;
  // A shell that reads its user's configuration leaves a file.
  writeFileSync(join(folder, ".bashrc"), 'touch "$HOME/configured"\n');
  env = { ...installed.env, PATH: path, HOME: folder, SHLVL: "0" };
});
after(() => rmSync(folder, { recursive: true, force: true }));

function inProcess(model: string, ...flags: readonly string[]): string[] {
  const places = ["--triton-server-directory", directory, "--model-repository", modelsFolder];
  return ["perf_analyzer", "-m", model, "--service-kind", "triton_c_api", ...places, ...flags];
}

function measure(model: string, ...flags: readonly string[]): Promise<Outcome> {
  return runRampart(inProcess(model, ...flags), { env, timeoutMs });
}

/** The processes of the Python models in a folder, which are children of the process with the library. */
function modelProcesses(models: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes("triton_python_backend_stub") && command.includes(models);
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

/** Resolves when no process of the models is left: the kernel ends them after the end of the process that started them. */
async function waitForModelProcesses(models: string): Promise<void> {
  while (modelProcesses(models).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A copy of one model, so that its processes differ from those of other tests. */
function copyModel(model: string): string {
  const models = join(folder, `models-of-${model}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(models);
  cpSync(join(modelsFolder, model), join(models, model), { recursive: true });
  return models;
}

if (needsBun)
  test("without Bun on the PATH nothing starts", async () => {
    const outcome = await runRampart(inProcess("simple"), { env: { ...env, PATH: "/nowhere" } });
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /needs Linux, and the executable or Bun/);
  });

describe("counts", () => {
  const cases = [
    { name: "synchronous calls", model: "simple", flags: ["--request-count", "40", "--concurrency-range", "2"] },
    { name: "asynchronous calls", model: "simple", flags: ["--request-count", "40", "--async"] },
    { name: "a request rate", model: "simple", flags: ["--request-count", "40", "--request-rate-range", "40"] },
    {
      name: "shared memory",
      model: "simple",
      flags: ["--request-count", "40", "--shared-memory", "system", "-b", "1"],
    },
  ];
  for (const { name, model, flags } of cases) {
    test(`of the library equal those of the report: ${name}`, async () => {
      const outcome = await measure(model, ...flags);
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.match(outcome.stdout, / {2}Service Kind: TRITON_C_API\n/);
      assert.match(outcome.stdout, / {4}Request count: 40\n/);
      assert.match(outcome.stdout, / {4}Inference count: 40\n/);
      assert.match(outcome.stdout, / {4}Successful request count: 40\n/);
      assert.doesNotMatch(outcome.stdout, /HTTP time|gRPC time/);
    });
  }

  test("of a decoupled model include each of its responses", async () => {
    const inputs = join(folder, "repeat.json");
    const step = { IN: { content: [1, 2, 3], shape: [3] }, DELAY: { content: [1, 1, 1], shape: [3] }, WAIT: [1] };
    writeFileSync(inputs, JSON.stringify({ data: [step] }));
    const exported = join(folder, "repeat-export.json");
    const flags = ["--streaming", "--request-count", "10", "--input-data", inputs, "--profile-export-file", exported];
    const outcome = await measure("repeat_int32", ...flags);
    assert.equal(outcome.code, 0, outcome.stderr);
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

  test("of a scenario have the outputs that the model computes", async () => {
    const file = join(folder, "scenario.ts");
    const options = JSON.stringify({ directory, modelRepository: modelsFolder, model: "simple_sequence" });
    writeFileSync(
      file,
      `import { defineScenario, hold, tritonInProcess, errorRate } from "rampart";\nexport default defineScenario({ name: "in process", target: tritonInProcess(${options}), load: hold(2, { requests: 60 }), assert: [errorRate().is(0)] });\n`,
    );
    const outcome = await runRampart(["run", file], { env, timeoutMs, cwd: folder });
    assert.equal(outcome.code, 0, `${outcome.stdout}\n${outcome.stderr}`);
  });
});

describe("an error ends the run with its reason", () => {
  test("of a model that fails each request", async () => {
    const outcome = await measure("failing", "--request-count", "10");
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /Thread \[0\] had error: .*deliberate failure/);
  });

  test("of a model that does not load, with what the library writes", async () => {
    const models = copyModel("simple");
    writeFileSync(join(models, "simple/config.pbtxt"), 'backend: "no_such_backend"\n');
    const outcome = await runRampart([...inProcess("simple", "--request-count", "1"), "--model-repository", models], {
      env,
      timeoutMs,
    });
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /Triton did not start in process/);
    assert.match(outcome.stderr, /no_such_backend/);
    assert.deepEqual(modelProcesses(models), []);
  });

  test("of a file that is not a library", async () => {
    const broken = join(folder, "broken");
    mkdirSync(join(broken, "lib"), { recursive: true });
    writeFileSync(join(broken, "lib/libtritonserver.so"), "no library");
    const outcome = await runRampart(
      [...inProcess("simple", "--request-count", "1"), "--triton-server-directory", broken],
      { env, timeoutMs },
    );
    assert.equal(outcome.code, 99);
    assert.match(outcome.stderr, /broken\/lib\/libtritonserver\.so/);
    assert.match(outcome.stderr, /invalid ELF header|file too short/);
  });

  test("of a process that is killed while it is measured", async () => {
    const models = copyModel("slow");
    let isKilled = false;
    const outcome = await runRampart([...inProcess("slow", "-p", "2000"), "--model-repository", models], {
      env,
      timeoutMs,
      onStdout: (text) => {
        if (isKilled || !text.includes("Request concurrency")) return;
        isKilled = true;
        for (const pid of modelProcesses(models)) {
          const { ppid } = parentOf(pid);
          if (ppid > 1) process.kill(ppid, "SIGKILL");
        }
      },
    });
    assert.ok(isKilled);
    assert.equal(outcome.code, 99, outcome.stderr);
    assert.match(outcome.stderr, /the process with the library has ended \(signal SIGKILL\)/);
    await waitForModelProcesses(models);
  });
});

test("Ctrl-C ends the run and leaves no process", async () => {
  const models = copyModel("slow");
  let isSignalled = false;
  const outcome = await runRampart([...inProcess("slow", "-p", "5000"), "--model-repository", models], {
    env,
    timeoutMs,
    onStdout: (text, kill) => {
      if (isSignalled || !text.includes("Request concurrency")) return;
      isSignalled = true;
      kill("SIGINT");
    },
  });
  assert.match(outcome.stderr + outcome.stdout, /interrupted|No valid requests|Exiting|Waiting for in-flight/i);
  assert.deepEqual(modelProcesses(models), []);
});

test("a run that is killed leaves no process", async () => {
  const models = copyModel("slow");
  let pids: number[] = [];
  await runRampart([...inProcess("slow", "-p", "5000"), "--model-repository", models], {
    env,
    timeoutMs,
    onStdout: (text, kill) => {
      if (pids.length > 0 || !text.includes("Request concurrency")) return;
      pids = modelProcesses(models);
      kill("SIGKILL");
    },
  });
  assert.ok(pids.length > 0);
  await waitForModelProcesses(models);
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
      message: /--model-repository: there is no such folder/,
    },
    {
      name: "a model that is not there",
      args: () => inProcess("simpel"),
      message: /-m: the model repository .* has no such model \(got simpel\)\s+It has alltypes, /,
    },
    {
      name: "no model repository",
      args: () => ["perf_analyzer", "-m", "simple", "--service-kind", "triton_c_api"],
      message: /Error: --model-repository should not be empty when using service-kind=triton_c_api\./,
    },
    {
      name: "an address",
      args: () => [...inProcess("simple"), "-u", "localhost:8000"],
      message: /-u cannot be used with --service-kind triton_c_api, which has no network/,
    },
    {
      name: "metrics",
      args: () => [...inProcess("simple"), "--collect-metrics"],
      message: /Server-side metric collection is only supported with Triton client backend\./,
    },
    {
      name: "a directory for a server",
      args: () => ["perf_analyzer", "-m", "simple", "--triton-server-directory", "/elsewhere"],
      message: /--triton-server-directory cannot be used with a Triton server/,
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

function parentOf(pid: number): { readonly ppid: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return { ppid: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0) };
}
