import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadInputs } from "../../src/registry/input-kinds.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { makeModel, spec } from "../inputs/make-model.ts";
import { makeFolder } from "../make-folder.ts";
import { makePlan } from "../plan/make-plan.ts";

const model = makeModel([spec("IN", "INT32", [2])]);

test("the kind of inputs decides where data comes from", async () => {
  const options = { stringLength: 8, stringData: "" };
  const zero = await loadInputs(makePlan({ inputs: { kind: "zero", ...options } }), model);
  assert.deepEqual(zero.streams[0]?.[0]?.inputs.get("IN")?.bytes, new Uint8Array(8));
  const random = await loadInputs(makePlan({ inputs: { kind: "random", ...options } }), model);
  assert.equal(random.streams[0]?.[0]?.inputs.get("IN")?.bytes[0], 0x67);
  const files = makePlan({ inputs: { kind: "json", files: ["/nonexistent"] } });
  await assert.rejects(async () => loadInputs(files, model), /cannot be read/);
  const directory = makePlan({ inputs: { kind: "directory", directory: "/nonexistent" } });
  await assert.rejects(async () => loadInputs(directory, model), /cannot be read/);
  const timed = makePlan({ load: { kind: "fixed-schedule" }, inputs: { kind: "zero", ...options } });
  await assert.rejects(async () => loadInputs(timed, model), /a fixed schedule needs data with times/);
});

test("the kind of load decides how requests come about", () => {
  const closed = prepareLoad({ kind: "concurrency", levels: { kind: "list", values: [2] }, search: "linear" });
  assert.deepEqual(closed.drive(2, []), { kind: "closed", concurrency: 2 });
  assert.equal(prepareLoad({ kind: "concurrency-ramp", start: 1, end: 2, overMs: 1 }).drive(2, []).kind, "ramp");
  assert.throws(() => prepareLoad({ kind: "intervals", file: "/nonexistent" }), /failed to open file/);
});

test("a part of a schedule is taken of data in either format, in the order of its times", async () => {
  const folder = makeFolder();
  const file = join(folder, "data.json");
  const part = { startMs: 10, endMs: 20, startsAtFirst: false, speedRatio: 2 };
  for (const [inputs, content] of [
    [{ kind: "json", files: [file] }, { IN: [1, 2] }],
    [{ kind: "payloads", file }, { payload: [{ n: 1 }] }],
  ] as const) {
    const data = [20, 30, 10, 5].map((timestamp) => ({ ...content, timestamp: [timestamp] }));
    writeFileSync(file, JSON.stringify({ data }));
    const plan = { ...makePlan({ load: { kind: "fixed-schedule", part } }), inputs };
    const { streams, warnings } = await loadInputs(plan, model);
    assert.deepEqual(
      streams[0]?.map(({ timestampMs }) => timestampMs),
      [0, 5],
    );
    assert.deepEqual(warnings, ["2 of 4 entries are not due from 10 ms to 20 ms, and are skipped."]);
  }
});
