import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assembleBatch, assembleExpected } from "../../src/inputs/batches.ts";
import type { DataStep, StepTensor } from "../../src/inputs/dataset.ts";
import { readDirectory } from "../../src/inputs/directory.ts";
import { applyShapes } from "../../src/inputs/shapes.ts";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { makeFolder } from "../make-folder.ts";
import { makeModel, spec } from "./make-model.ts";

/** Batches, directories and given shapes. */

function step(inputs: Record<string, number>, expected: Record<string, number> = {}): DataStep {
  const toMap = (values: Record<string, number>): Map<string, StepTensor> =>
    new Map(Object.entries(values).map(([name, value]) => [name, { bytes: Uint8Array.of(value) }]));
  return { inputs: toMap(inputs), expected: toMap(expected) };
}

const model = makeModel([spec("A", "UINT8", [1])], [spec("OUT", "UINT8", [1])]);

test("a batch takes the following steps and wraps around", () => {
  const steps = [1, 2, 3].map((value) => step({ A: value }));
  const batches = [0, 1, 2].map((first) => assembleBatch(model, steps, first, 4)[0]);
  assert.deepEqual(
    batches.map((tensor) => [...(tensor?.bytes ?? [])]),
    [
      [1, 2, 3, 1],
      [2, 3, 1, 2],
      [3, 1, 2, 3],
    ],
  );
  assert.deepEqual(batches[0]?.shape, [4, 1]);
});

test("a model without a batch dimension gets one item and no added dimension", () => {
  const flat = makeModel([spec("A", "UINT8", [1])], [], { maxBatchSize: 0 });
  assert.deepEqual(assembleBatch(flat, [step({ A: 1 }), step({ A: 2 })], 1, 4), [
    { name: "A", datatype: "UINT8", shape: [1], bytes: Uint8Array.of(2) },
  ]);
});

test("all items of a batch share one shape tensor", () => {
  const shaped = makeModel([spec("A", "UINT8", [1]), spec("S", "UINT8", [1], { isShapeTensor: true })]);
  const tensors = assembleBatch(shaped, [step({ A: 1, S: 9 }), step({ A: 2, S: 9 })], 0, 2);
  assert.deepEqual(
    tensors.map(({ name, shape, bytes }) => [name, shape, [...bytes]]),
    [
      ["A", [2, 1], [1, 2]],
      ["S", [1], [9]],
    ],
  );
});

test("a batch has one shape tensor and one shape of each input", () => {
  const shaped = makeModel([spec("A", "UINT8", [-1]), spec("S", "UINT8", [1], { isShapeTensor: true })]);
  assert.throws(
    () => assembleBatch(shaped, [step({ A: 1, S: 9 }), step({ A: 2, S: 8 })], 0, 2),
    /data\.S: The shape tensors should be identical in a batch/,
  );
  const long: DataStep = { inputs: new Map([["A", { bytes: new Uint8Array(2), shape: [2] }]]), expected: new Map() };
  const short: DataStep = { inputs: new Map([["A", { bytes: new Uint8Array(1), shape: [1] }]]), expected: new Map() };
  const varying = makeModel([spec("A", "UINT8", [-1])]);
  assert.throws(
    () => assembleBatch(varying, [long, short], 0, 2),
    /\(input 'A' expected shape \[2\] and received \[1\]\)/,
  );
});

test("a missing input and an optional one that only some items have are refused", () => {
  const optional = makeModel([spec("A", "UINT8", [1]), spec("O", "UINT8", [1], { isOptional: true })]);
  assert.throws(() => assembleBatch(optional, [step({ O: 1 })], 0, 1), /data for input 'A'/);
  assert.throws(
    () => assembleBatch(optional, [step({ A: 1, O: 1 }), step({ A: 2 })], 0, 2),
    /optional input 'O' has data in some items/,
  );
  assert.equal(assembleBatch(optional, [step({ A: 1 })], 0, 2).length, 1);
});

test("expected outputs are joined like inputs", () => {
  const steps = [step({ A: 1 }, { OUT: 7 }), step({ A: 2 }, { OUT: 8 })];
  assert.deepEqual(assembleExpected(model, steps, 1, 2), [
    {
      name: "OUT",
      bytes: Uint8Array.of(8, 7),
      items: [
        { place: "", byteCount: 1 },
        { place: "", byteCount: 1 },
      ],
    },
  ]);
  assert.deepEqual(assembleExpected(model, [step({ A: 1 })], 0, 2), []);
});

async function withFiles<T>(
  files: Record<string, Uint8Array | string>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = makeFolder();
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
  return await use(folder);
}

const files = makeModel(
  [spec("A", "INT32", [2]), spec("O", "INT32", [1], { isOptional: true }), spec("T", "BYTES", [2])],
  [spec("OUT", "INT32", [1])],
);

test("a directory has a binary file per input and a line per string", async () => {
  await withFiles(
    { A: new Uint8Array(8).fill(5), T: "one\ntwo", OUT: Uint8Array.of(1, 2, 3, 4), ".hidden": "x" },
    async (folder) => {
      const dataset = await readDirectory(folder, files);
      const [only] = dataset.streams[0] ?? [];
      assert.deepEqual([...(only?.inputs.keys() ?? [])], ["A", "T"]);
      assert.deepEqual(only?.inputs.get("A")?.bytes, new Uint8Array(8).fill(5));
      assert.deepEqual(
        [...(only?.inputs.get("T")?.bytes ?? [])],
        [3, 0, 0, 0, ...Buffer.from("one"), 3, 0, 0, 0, ...Buffer.from("two")],
      );
      assert.deepEqual(only?.expected.get("OUT")?.bytes, Uint8Array.of(1, 2, 3, 4));
      assert.deepEqual([dataset.streams.length, dataset.isFromJson], [1, false]);
    },
  );
});

test("a last line break makes no empty string", async () => {
  await withFiles({ A: new Uint8Array(8), T: "one\ntwo\n" }, async (folder) => {
    assert.equal((await readDirectory(folder, files)).streams[0]?.[0]?.inputs.get("T")?.bytes.length, 14);
  });
});

test("all mismatches in a directory are reported together", async () => {
  await withFiles({ A: new Uint8Array(7), T: "", X: "?" }, async (folder) => {
    await assert.rejects(readDirectory(folder, files), (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(
        error.problems.map(({ path }) => path),
        ["X", "A", "T"].map((name) => join(folder, name)),
      );
      assert.match(word(error.problems[1]?.message ?? ""), /provided data for input A has byte size 7, expect 8/);
      assert.match(word(error.problems[2]?.message ?? ""), /is empty/);
      return true;
    });
  });
  await withFiles({ A: new Uint8Array(8), T: "one" }, async (folder) => {
    await assert.rejects(readDirectory(folder, files), /has 1 elements, expect 2/);
  });
  await withFiles({ T: "one\ntwo" }, async (folder) => {
    await assert.rejects(readDirectory(folder, files), /failed to open file/);
  });
  await withFiles({}, async (folder) => {
    mkdirSync(join(folder, "A"));
    await assert.rejects(readDirectory(folder, files), UserError);
  });
  await withFiles({ A: new Uint8Array(8), T: "one\ntwo", OUT: new Uint8Array(5) }, async (folder) => {
    await assert.rejects(readDirectory(folder, files), /OUT: provided data for output OUT has byte size 5, expect 4/);
  });
  const varying = makeModel([spec("A", "INT32", [-1])]);
  await withFiles({ A: new Uint8Array(8) }, async (folder) => {
    await assert.rejects(readDirectory(folder, varying), (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.equal(error.problems[0]?.path, join(folder, "A"));
      assert.match(word(error.problems[0]?.message ?? ""), /contains dynamic shape/);
      return true;
    });
  });
  await assert.rejects(readDirectory("/nonexistent", files), /cannot be read/);
});

test("given shapes change inputs that vary, and those only", () => {
  const varying = makeModel([spec("V", "FP32", [-1, 4]), spec("F", "FP32", [4])]);
  const { model: shaped, warnings } = applyShapes(varying, { V: [3, 4], F: [5], X: [1] });
  assert.deepEqual(
    shaped.inputs.map(({ shape }) => shape),
    [[3, 4], [4]],
  );
  assert.equal(warnings.length, 2);
  assert.match(
    word(warnings[0] ?? ""),
    /^the shape 5 that target\.shapes gives input 'F' has no effect: the model fixes it to \[4\]\.$/,
  );
  assert.match(word(warnings[1] ?? ""), /^the shape 1 .* input 'X' has no effect: model 'model' has no such input\.$/);
  assert.deepEqual(applyShapes(varying, { F: [4] }).warnings, []);
});
