import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { valueIn } from "../report/json-metrics.ts";
import { KserveServer, takeMs } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runWithReport } from "./command.ts";

/** Goodput of tensors, beside a server that decides which requests are late. */

const REQUESTS = 40;

const folder = makeFolder();
let server: KserveServer;
before(async () => {
  // Of four requests one fails, one is late, and two keep the limit.
  server = await new KserveServer({
    onInfer: async ({ index }) => {
      if (index % 4 === 0) return "refused on purpose";
      if (index % 4 === 1) await takeMs(5000);
      return undefined;
    },
  }).start();
});
after(() => server.stop());

function writeScenario(name: string, fields: string): string {
  const text = `import { defineScenario, goodput, hold, rate, triton } from "rampart";
export default defineScenario({ name: "${name}", target: triton("127.0.0.1:${server.port}", { model: "simple" }), ${fields} });
`;
  return writeIn(folder, `${name}.ts`, text);
}

const CASES: readonly (readonly [name: string, fields: string, args: readonly string[]])[] = [
  [
    "of the latency",
    `load: hold(40, { requests: ${REQUESTS} }), assert: [goodput({ latency: "4 s" }).atLeast(0.001)]`,
    [],
  ],
  [
    "from the intended send",
    `load: rate(40, { requests: ${REQUESTS} }), assert: [goodput({ latency: "4 s", scheduledLatency: "4.2 s" }).atLeast(0.001)]`,
    [],
  ],
  [
    "with two threads",
    `load: hold(40, { requests: ${REQUESTS} }), assert: [goodput({ latency: "4 s" }).atLeast(0.001)]`,
    ["--workers", "2"],
  ],
];

describe("goodput of tensors", () => {
  for (const [name, fields, args] of CASES)
    test(`counts the requests within the limits: ${name}`, LIMIT, async () => {
      const before = server.infers.length;
      const { code, report, stdout } = await runWithReport([
        "run",
        writeScenario(name.replaceAll(" ", "-"), fields),
        ...args,
      ]);
      assert.equal(code, 0, stdout);
      const sent = server.infers.slice(before);
      assert.equal(sent.length, REQUESTS);
      const within = sent.filter(({ index }) => index % 4 > 1).length;
      const level = report.levels[0] as (typeof report.levels)[0] & { readonly durationSec: number };
      assert.equal(valueIn(level, "goodRatio"), within / REQUESTS);
      assert.ok(Math.abs(valueIn(level, "goodputPerSec") * level.durationSec - within) < 0.01);
    });

  test("fails an assertion above it", LIMIT, async () => {
    const fields = `load: hold(40, { requests: ${REQUESTS} }), assert: [goodput({ latency: "4 s" }).atLeast(10000)]`;
    const { code, stdout } = await runWithReport(["run", writeScenario("too-much", fields)]);
    assert.equal(code, 65, stdout);
    assert.match(stdout, /FAIL\s+goodput \(latency at most 4 s\)/);
  });
});
