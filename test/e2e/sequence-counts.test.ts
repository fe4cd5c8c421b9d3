import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart, runWithReport } from "./command.ts";

/** Numbers of sequences, beside the log of their server. */

const LENGTH = 7;
/** With these numbers of requests, at least one sequence has more than one request left at the end. */
const LOADS = ["hold(4, { requests: 100 })", "hold(8, { requests: 30 })", "rate(200, { requests: 58 })"];

const folder = makeFolder();
let server: KserveServer;
before(async () => {
  server = await new KserveServer({ isSequence: true }).start();
});
after(() => server.stop());

/** Returns the lengths of the sequences that the server has got since an inference request. */
function lengthsSince(first: number): number[] {
  const lengths = new Map<unknown, number>();
  for (const { json } of server.infers.slice(first)) {
    const id = json.parameters?.["sequence_id"];
    lengths.set(id, (lengths.get(id) ?? 0) + 1);
  }
  return [...lengths.values()];
}

describe("a report counts the sequences of their whole length", () => {
  for (const [index, load] of LOADS.entries())
    test(load, LIMIT, async () => {
      const text = `import { defineScenario, hold, input, rate, triton } from "rampart";
export default defineScenario({
  name: "sequences",
  target: triton("127.0.0.1:${server.port}", { model: "simple" }),
  load: ${load},
  sequences: { length: ${LENGTH}, variation: 0 },
});
`;
      const first = server.infers.length;
      const { code, stdout, report } = await runWithReport(["run", writeIn(folder, `sequences-${index}.ts`, text)]);
      assert.equal(code, 0, stdout);
      const lengths = lengthsSince(first);
      // The end of the load has cut some short.
      assert.ok(lengths.some((length) => length < LENGTH));
      const { sequences = 0 } = report.levels[0] as { readonly sequences?: number };
      assert.equal(sequences, lengths.filter((length) => length === LENGTH).length);
    });
});

test("perf_analyzer mode counts all of them, like the original", LIMIT, async () => {
  const first = server.infers.length;
  const model = ["perf_analyzer", "-m", "simple", "-u", `127.0.0.1:${server.port}`];
  const load = ["--concurrency-range", "4", "--request-count", "50", "--sequence-length", String(LENGTH)];
  const { code, stdout, stderr } = await runRampart([...model, ...load, "--sequence-length-variation", "0"]);
  assert.equal(code, 0, stdout + stderr);
  assert.equal(Number(/Sequence count: (\d+)/.exec(stdout)?.[1]), lengthsSince(first).length);
});
