import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { commandUnderTest, runRampart } from "./command.ts";

/** A server that goes away or stops answering while it is measured ends the run in bounded time, with a message and the right exit code. */

const folder = makeFolder();

interface Mock {
  readonly process: ChildProcess;
  readonly http: string;
  readonly grpc: string;
}

/** The mock in a process of its own, so that it can be killed or stopped like a server. */
async function startMockProcess(): Promise<Mock> {
  const [program, ...first] = commandUnderTest as [string, ...string[]];
  const args = [...first, "mock", "--http-port", "0", "--grpc-port", "0", "--latency", "20ms"];
  const process = spawn(program, args, {
    cwd: join(import.meta.dirname, "..", ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(process.stdout.setEncoding("utf8"), "data")) as [string];
  const [, http = "", grpc = ""] = /http (\S+:\d+), grpc (\S+:\d+)/.exec(line) ?? [];
  return { process, http, grpc };
}

// Each has a server of its own, and waits for it most of the time.
describe("a server that is gone", { concurrency: true }, () => {
  for (const protocol of ["http", "grpc"] as const) {
    const cases = [
      { name: "the server is killed", signal: "SIGKILL", message: /reached|refused|closed|connect/i },
      { name: "the server stops answering", signal: "SIGSTOP", message: /response|stall|byte/i },
    ] as const;
    for (const { name, signal, message } of cases) {
      test(`${name} under a scenario, over ${protocol}`, async () => {
        const mock = await startMockProcess();
        try {
          const text = `import { defineScenario, hold, triton } from "rampart";\nexport default defineScenario({ name: "dying", target: triton("${mock[protocol]}", { protocol: "${protocol}", model: "simple" }), load: hold(4, { for: "60 s" }), stallTimeout: "2 s" });\n`;
          const file = writeIn(folder, `${protocol}-${signal}.ts`, text);
          const outcome = await runRampart(["run", file], {
            cwd: folder,
            onStderr: onceMeasuring(mock, signal),
          });
          assert.equal(outcome.code, 69, `${outcome.stdout}\n${outcome.stderr}`);
          assert.match(outcome.stderr, message);
          assert.match(outcome.stdout, /PARTIAL/);
        } finally {
          mock.process.kill("SIGKILL");
        }
      });

      test(`${name} in perf_analyzer mode, over ${protocol}`, async () => {
        const mock = await startMockProcess();
        try {
          const args = [
            "perf_analyzer",
            "-m",
            "simple",
            "-i",
            protocol,
            "-u",
            mock[protocol],
            "-v",
            "-p",
            "300",
            // It must not be stable before the server is gone.
            "-s",
            "0.001",
            "-r",
            "100",
            "--stall-timeout",
            "2s",
          ];
          const outcome = await runRampart(args, { onStdout: onceMeasuring(mock, signal) });
          assert.equal(outcome.code, 99, `${outcome.stdout}\n${outcome.stderr}`);
          assert.match(outcome.stderr, /Thread \[\d+\] had error/);
        } finally {
          mock.process.kill("SIGKILL");
        }
      });
    }
  }
});

/** Signals the server once the load runs. */
function onceMeasuring(mock: Mock, signal: NodeJS.Signals): (text: string) => void {
  let isSignalled = false;
  return (text) => {
    if (isSignalled || !/measuring|Request concurrency/.test(text)) return;
    isSignalled = true;
    setTimeout(() => mock.process.kill(signal), 1000);
  };
}
