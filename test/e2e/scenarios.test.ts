import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sum } from "../../src/plan/units.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { recordNumbers, runRampart, runWithReport } from "./command.ts";
import { openTriton, readServerCounts, type TritonAddresses, waitForCounts } from "./servers.ts";

/** Scenarios end to end: from files in a folder without packages, against Triton and the embedded target. */

let triton: TritonAddresses;
const folder = makeFolder();
before(async () => {
  triton = await openTriton();
});
after(() => triton?.stop());

function writeScenario(name: string, body: string): string {
  const text = `import * as rampart from "rampart";\nconst { defineScenario, embedded, errorRate, mean, hold, input, p99, ramp, rate, steps, throughput, triton } = rampart;\nexport default defineScenario(${body});\n`;
  return writeIn(folder, `${name}.ts`, text);
}

const INPUT_DATA = {
  data: [{ INPUT0: Array.from({ length: 16 }, (_, i) => i), INPUT1: Array.from({ length: 16 }, () => 1) }],
};

describe("scenarios against Triton: totals equal its statistics", () => {
  const cases: readonly {
    name: string;
    protocol: "http" | "grpc";
    options: string;
    load: string;
    inputs: string;
    count: number;
  }[] = [
    {
      name: "ramp over HTTP",
      protocol: "http",
      options: "",
      load: "ramp(1, 4, { requests: 50 })",
      inputs: "input.random()",
      count: 200,
    },
    {
      name: "steps over gRPC",
      protocol: "grpc",
      options: "",
      load: "steps([2, 4], { requests: 60 })",
      inputs: "input.zero()",
      count: 120,
    },
    {
      name: "hold on a stream",
      protocol: "grpc",
      options: ", streaming: true",
      load: "hold(4, { requests: 80 })",
      inputs: "input.random()",
      count: 80,
    },
    {
      name: "rate with JSON inputs",
      protocol: "http",
      options: "",
      load: "rate(200, { requests: 60 })",
      inputs: 'input.json("./inputs.json")',
      count: 60,
    },
  ];
  for (const { name, protocol, options, load, inputs, count } of cases) {
    test(name, async () => {
      writeFileSync(join(folder, "inputs.json"), JSON.stringify(INPUT_DATA));
      const address = protocol === "http" ? triton.http : triton.grpc;
      const file = writeScenario(
        name.replaceAll(" ", "-"),
        `{ name: ${JSON.stringify(name)}, target: triton(${JSON.stringify(address)}, { protocol: "${protocol}", model: "simple"${options} }), load: ${load}, inputs: ${inputs}, assert: [errorRate().is(0), mean("latency").below("5 s"), throughput().above(1)] }`,
      );
      const earlier = await readServerCounts(triton.http, "simple");
      const { code, report, stdout, stderr } = await runWithReport(["run", file], { cwd: folder });
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      const { sent, completed, failed } = report.requests;
      const counts = await waitForCounts(triton.http, "simple", ({ success }) => success - earlier.success >= sent);
      assert.deepEqual({ sent, completed, failed }, { sent: count, completed: count, failed: 0 });
      assert.equal(counts.success - earlier.success, count);
      assert.deepEqual(report.server && { success: report.server.successCount, fail: report.server.failCount }, {
        success: count,
        fail: 0,
      });
      assert.ok(report.assertions.every(({ isMet }) => isMet));
      recordNumbers(name, {
        sent,
        completed,
        failed,
        levels: report.levels.map(({ level, completed }) => [level, completed]),
      });
    });
  }
});

describe("scenarios against the embedded target", () => {
  test("a scenario with an enum and a relative import, over both protocols", async () => {
    writeFileSync(join(folder, "levels.ts"), "export enum Level { One = 1, Two }\n");
    for (const protocol of ["http", "grpc"]) {
      const text = `#!/usr/bin/env -S rampart run\nimport { defineScenario, embedded, errorRate, hold } from "rampart";\nimport { Level } from "./levels.ts";\nexport default defineScenario({ name: "enum", target: embedded({ protocol: "${protocol}" }), load: hold(Level.Two, { requests: 100 }), assert: [errorRate().is(0)] });\n`;
      const file = writeIn(folder, `enum-${protocol}.ts`, text);
      const { code, report, stdout, stderr } = await runWithReport(["run", file], { cwd: folder });
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      assert.deepEqual(report.requests, { sent: 100, completed: 100, failed: 0 });
      recordNumbers(`enum ${protocol}`, report.requests);
    }
  });

  test("errors are counted by kind, and an assertion decides the exit code", async () => {
    const file = writeScenario(
      "errors",
      '{ name: "errors", target: embedded({ errorRate: "100 %" }), load: hold(2, { requests: 50 }), assert: [errorRate().below("10 %")] }',
    );
    const { code, report, stdout } = await runWithReport(["run", file], { cwd: folder });
    assert.equal(code, 65, stdout);
    assert.deepEqual(report.requests, { sent: 50, completed: 0, failed: 50 });
    assert.equal(sum(report.failures.map(({ count }) => count)), 50);
    recordNumbers("errors", report.requests);
  });

  test("a ramp over time has one row and a time line", async () => {
    const file = writeScenario(
      "over",
      '{ name: "over", target: embedded({ latency: "2 ms" }), load: ramp(1, 4, { over: "1 s" }) }',
    );
    const { code, report, stdout } = await runWithReport(["run", "-v", file], { cwd: folder });
    assert.equal(code, 0, stdout);
    assert.equal(report.levels.length, 1);
    assert.match(stdout, /^Time line\n(?:.*\n){10}/m);
  });

  test("Ctrl-C prints a report marked as partial", async () => {
    const file = writeScenario(
      "long",
      '{ name: "long", target: embedded({ latency: "1 ms" }), load: hold(2, { for: "140 s" }) }',
    );
    let isSignalled = false;
    const outcome = await runRampart(["run", file], {
      cwd: folder,
      onStderr: (text, kill) => {
        if (isSignalled || !text.includes("measuring")) return;
        isSignalled = true;
        setTimeout(() => kill("SIGINT"), 1000);
      },
    });
    assert.equal(outcome.code, 130, outcome.stderr);
    assert.match(outcome.stdout, /PARTIAL/);
    assert.match(outcome.stdout, /[\d,]+ requests$/m);
  });
});
