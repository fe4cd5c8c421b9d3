import assert from "node:assert/strict";
import { test } from "node:test";
import { checkBatches } from "../../src/inputs/batches.ts";
import { generateDataset, glibcRandomBytes } from "../../src/inputs/random-data.ts";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { splitBytesElements } from "../../src/service/json-tensors.ts";
import { DATATYPES, elementBytes } from "../../src/service/tensor.ts";
import { makeModel, spec } from "./make-model.ts";

const usual = { isZero: false, stringLength: 128, stringData: "" };

function textsOf(bytes: Uint8Array | undefined): string[] {
  return (splitBytesElements(bytes ?? new Uint8Array(0)) ?? []).map((element) => new TextDecoder().decode(element));
}

test("random bytes are those of glibc's rand() without a seed", () => {
  // The low bytes of rand(): 1804289383, 846930886, 1681692777, 1714636915, ...
  assert.deepEqual(
    [...glibcRandomBytes(16)],
    [0x67, 0xc6, 0x69, 0x73, 0x51, 0xff, 0x4a, 0xec, 0x29, 0xcd, 0xba, 0xab, 0xf2, 0xfb, 0xe3, 0x46],
  );
  assert.deepEqual(glibcRandomBytes(0), new Uint8Array(0));
  // By the generator's definition: r[n] = 16807 r[n-1] mod 2^31-1 up to 30, then r[n] = r[n-31], and from 34 on r[n-3] + r[n-31].
  const r = [1];
  for (let n = 1; n < 344 + 500; n++) {
    if (n < 31) r.push((16807 * (r[n - 1] as number)) % (2 ** 31 - 1));
    else if (n < 34) r.push(r[n - 31] as number);
    else r.push(((r[n - 3] as number) + (r[n - 31] as number)) % 2 ** 32);
  }
  const defined = r.slice(344).map((number) => Math.floor(number / 2) % 256);
  assert.deepEqual([...glibcRandomBytes(500)], defined);
});

test("a longer row of random bytes begins with the shorter one", () => {
  const long = glibcRandomBytes(1000);
  for (const count of [1, 31, 32, 310, 999]) assert.deepEqual(glibcRandomBytes(count), long.slice(0, count));
  assert.equal(new Set(long).size > 200, true);
});

test("all inputs of fixed-size elements begin with the same random bytes", () => {
  const inputs = DATATYPES.filter((datatype) => datatype !== "BYTES").map((datatype) =>
    spec(datatype, datatype, [2, 3]),
  );
  const [step] = generateDataset(makeModel(inputs), usual).streams[0] ?? [];
  for (const { name, datatype } of inputs) {
    const bytes = step?.inputs.get(name)?.bytes;
    assert.deepEqual(bytes, glibcRandomBytes(6 * elementBytes(datatype)), name);
  }
  assert.equal(step?.expected.size, 0);
});

test("zero data is zero, but strings stay random", () => {
  const model = makeModel([spec("A", "FP32", [4]), spec("T", "BYTES", [2])]);
  const [step] = generateDataset(model, { ...usual, isZero: true, stringLength: 7 }).streams[0] ?? [];
  assert.deepEqual(step?.inputs.get("A")?.bytes, new Uint8Array(16));
  const texts = textsOf(step?.inputs.get("T")?.bytes);
  assert.deepEqual(
    texts.map((text) => text.length),
    [7, 7],
  );
  assert.notEqual(texts[0], texts[1]);
});

test("random strings are the same in every run, and of plain characters", () => {
  const model = makeModel([spec("T", "BYTES", [50])]);
  const make = (): string[] => textsOf(generateDataset(model, usual).streams[0]?.[0]?.inputs.get("T")?.bytes);
  assert.deepEqual(make(), make());
  for (const text of make()) assert.match(text, /^[a-zA-Z0-9 .?!]{128}$/);
});

test("given string data fills every element", () => {
  const model = makeModel([spec("T", "BYTES", [3])]);
  const dataset = generateDataset(model, { ...usual, stringData: "häh" });
  assert.deepEqual(textsOf(dataset.streams[0]?.[0]?.inputs.get("T")?.bytes), ["häh", "häh", "häh"]);
});

test("optional inputs get random data too; an empty shape has no bytes", () => {
  const model = makeModel([spec("A", "INT32", [1], { isOptional: true }), spec("E", "INT32", [0])]);
  const [step] = generateDataset(model, usual).streams[0] ?? [];
  assert.deepEqual([step?.inputs.get("A")?.bytes.length, step?.inputs.get("E")?.bytes.length], [4, 0]);
});

test("inputs whose size varies and shape tensors are refused, all at once", () => {
  const model = makeModel([
    spec("A", "FP32", [-1, 4]),
    spec("B", "INT32", [2], { isShapeTensor: true }),
    spec("C", "BYTES", [-1]),
    spec("D", "FP32", [4]),
  ]);
  assert.throws(
    () => generateDataset(model, usual),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(
        error.problems.map(({ path }) => path),
        ["input A", "input B", "input C"],
      );
      assert.match(
        word(error.problems[0]?.message ?? ""),
        /input A contains dynamic shape, provide shapes to send along with the request/,
      );
      assert.match(word(error.problems[0]?.hint ?? ""), /target\.shapes, for example 8,4\./);
      return true;
    },
  );
});

test("a batch that no request can carry is refused before it is made", () => {
  const model = { ...makeModel([spec("IN", "INT32", [1024])]), maxBatchSize: 8 };
  const dataset = generateDataset(model, { isZero: true, stringLength: 1, stringData: "" });
  // Each item has 4 KiB: 524,287 of them are less than 2 GiB.
  checkBatches(dataset, { model, batchSize: 524_287 });
  assert.throws(() => checkBatches(dataset, { model, batchSize: 524_288 }), {
    message: /a batch of 524,288 takes 2,147,483,648 bytes, more than the 2,147,483,647 that a request can carry/,
  });
  checkBatches(dataset, { model: { ...model, maxBatchSize: 0 }, batchSize: 524_288 });
});
