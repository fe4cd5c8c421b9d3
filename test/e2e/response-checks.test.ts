import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { runWithReport } from "./command.ts";

/** `check` and `onRecord` of scenarios, as users run them. */

const folder = makeFolder();

function writeScenario(name: string, fields: string): string {
  const text = `import { defineScenario, embedded, errorRate, hold, http, input, mix } from "rampart";\nexport default defineScenario({\n  name: "${name}",\n${fields}\n});\n`;
  return writeIn(folder, `${name}.ts`, text);
}

interface Failures {
  readonly failures: readonly {
    readonly kind: string;
    readonly count: number;
    readonly responses?: readonly { readonly reason: string; readonly response: string }[];
  }[];
}

describe("responses of a scenario", () => {
  test("that check refuses are failed requests of their own kind, and the first ones are shown without secrets", async () => {
    const data = { data: [1, 2].map((n) => ({ INPUT0: Array(16).fill(n), INPUT1: Array(16).fill(1), tags: { n } })) };
    writeFileSync(join(folder, "data.json"), JSON.stringify(data));
    const file = writeScenario(
      "checked",
      `  target: embedded(),
  inputs: input.json("data.json"),
  load: hold(1, { requests: 40 }),
  check: ({ tensors: { OUTPUT0 }, request: { tags } }) => OUTPUT0?.values()[0] === 2 || \`\${OUTPUT0?.values()[0]} for \${tags.n}\`,
  onRecord: ({ outcome, tags, failure }) => console.error(\`\${outcome} \${tags.n} \${failure?.kind}\`),
  assert: [errorRate().is("50 %")],`,
    );
    const { code, report, stdout, stderr } = await runWithReport(["run", file]);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    const { failures } = report as unknown as Failures;
    assert.deepEqual(
      failures.map(({ kind, count, responses = [] }) => [kind, count, responses.length]),
      [["check", 20, 3]],
    );
    assert.match(
      failures[0]?.responses?.[0]?.response ?? "",
      /^OUTPUT0 INT32 \[1,16\]: 3, 3, .*OUTPUT1 INT32 \[1,16\]: 1, 1/,
    );
    assert.equal(failures[0]?.responses?.[0]?.reason, "3 for 2");
    assert.match(stdout, /refused by check +the response\n +3 for 2 +OUTPUT0 INT32/);
    assert.equal(stderr.match(/^completed 1 undefined$/gm)?.length, 20, stderr);
    assert.equal(stderr.match(/^failed 2 check$/gm)?.length, 20, stderr);
  });

  test("of a mix are checked for each target", async () => {
    const file = writeScenario(
      "mixed",
      `  target: mix([{ name: "a", target: embedded() }, { name: "b", target: embedded({ protocol: "grpc" }) }]),
  load: hold(2, { requests: 40 }),
  check: ({ request: { tags } }) => tags.target === "a",`,
    );
    const { report } = await runWithReport(["run", file]);
    assert.deepEqual(report.requests, { ...report.requests, completed: 20, failed: 20 });
  });

  test("end the run when onRecord throws", async () => {
    const file = writeScenario(
      "throwing",
      `  target: embedded({ latency: "1 ms" }),
  load: hold(2, { for: "1 min" }),
  onRecord: ({ index }) => {
    if (index === 10) throw new Error("the disk is full");
  },`,
    );
    const { code, report, stderr } = await runWithReport(["run", file]);
    assert.equal(code, 64, stderr);
    assert.equal(report.error?.code, "exception");
    assert.match(stderr, /onRecord throws: the disk is full \(throwing\.ts:\d+\)\. Correct it in the scenario\./);
  });
});
