import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { Dataset } from "../../src/inputs/dataset.ts";
import { assembleBatch } from "../../src/inputs/dataset.ts";
import { readJsonFiles } from "../../src/inputs/json-file.ts";
import { type Problem, UserError } from "../../src/plan/problem.ts";
import type { ModelInfo } from "../../src/service/service.ts";
import { makeModel, spec } from "./make-model.ts";

/** Writes the texts as files and reads them as a run does. */
async function readTexts(texts: readonly string[], model: ModelInfo): Promise<Dataset> {
  const folder = await mkdtemp(join(tmpdir(), "rampart-test-"));
  try {
    const paths = texts.map((_, index) => join(folder, `${index}.json`));
    for (const [index, path] of paths.entries()) await writeFile(path, texts[index] as string);
    return await readJsonFiles(paths, model);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function read(data: object, model: ModelInfo): Promise<Dataset> {
  return readTexts([JSON.stringify(data)], model);
}

/** What is wrong with the texts: place below the folder, and message. */
async function problemsOf(texts: readonly string[], model: ModelInfo): Promise<[place: string, message: string][]> {
  let found: readonly Problem[] = [];
  try {
    await readTexts(texts, model);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    found = error.problems;
  }
  for (const { hint } of found) assert.notEqual(hint, "");
  return found.map(({ path, message }) => [basename(path), message]);
}

const one = makeModel([spec("IN", "INT32", [4])], [spec("OUT", "INT32", [2])]);
const varying = makeModel([spec("IN", "INT32", [-1, -1])]);

function bytesOf(dataset: Dataset, step = 0, name = "IN", stream = 0): number[] {
  return [...(dataset.streams[stream]?.[step]?.inputs.get(name)?.bytes ?? [])];
}

function int32(...values: number[]): number[] {
  return [...new Uint8Array(Int32Array.from(values).buffer)];
}

/** The documented ways to write four INT32 elements. */
const forms: readonly (readonly [name: string, value: unknown])[] = [
  ["a flat array", [1, 2, 3, 4]],
  [
    "nested arrays",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ["content", { content: [1, 2, 3, 4] }],
  ["content and shape", { content: [1, 2, 3, 4], shape: [4] }],
  ["base64", { b64: "AQAAAAIAAAADAAAABAAAAA==" }],
  ["base64 in lines", { b64: "AQAAAAIA\nAAADAAAA BAAAAA==" }],
  ["base64 as content", { content: { b64: "AQAAAAIAAAADAAAABAAAAA==" } }],
  ["base64 as content with a shape", { content: { b64: "AQAAAAIAAAADAAAABAAAAA==" }, shape: [4] }],
];

for (const [name, value] of forms) {
  test(`a tensor as ${name}`, async () => {
    const dataset = await read({ data: [{ IN: value }] }, one);
    assert.deepEqual(bytesOf(dataset), int32(1, 2, 3, 4));
    assert.equal(dataset.isFromJson, true);
    assert.deepEqual(dataset.streams.length, 1);
  });
}

test("objects are the steps of one stream, over several files", async () => {
  const entry = (value: number): object => ({ IN: [value, value, value, value] });
  const texts = [{ data: [entry(1), entry(2)] }, { data: [entry(3)] }].map((data) => JSON.stringify(data));
  const dataset = await readTexts(texts, one);
  assert.equal(dataset.streams.length, 1);
  assert.deepEqual(
    [0, 1, 2].map((step) => bytesOf(dataset, step)[0]),
    [1, 2, 3],
  );
});

test("arrays are streams of their own", async () => {
  const entry = (value: number): object => ({ IN: [value, value, value, value] });
  const dataset = await read({ data: [[entry(1), entry(2)], [entry(3)]] }, one);
  assert.deepEqual(
    dataset.streams.map((steps) => steps.length),
    [2, 1],
  );
  assert.equal(bytesOf(dataset, 0, "IN", 1)[0], 3);
});

test("steps of a varying input have shapes of their own", async () => {
  const shapes = [
    [2, 8],
    [8, 2],
    [4, 4],
  ];
  const data = shapes.map((shape) => ({ IN: { content: new Array(16).fill(1), shape } }));
  const dataset = await read({ data }, varying);
  assert.deepEqual(
    dataset.streams[0]?.map((step) => step.inputs.get("IN")?.shape),
    shapes,
  );
  const [tensor] = assembleBatch(varying, dataset.streams[0] ?? [], 1, 1);
  assert.deepEqual(tensor?.shape, [1, 8, 2]);
});

const elements: readonly (readonly [datatype: Parameters<typeof spec>[1], json: string, bytes: number[]])[] = [
  ["BOOL", "[true, false]", [1, 0]],
  ["UINT8", "[0, 255]", [0, 255]],
  ["INT8", "[-128, 127]", [128, 127]],
  ["UINT16", "[65535, 1]", [255, 255, 1, 0]],
  ["INT16", "[-2, 1]", [254, 255, 1, 0]],
  ["UINT32", "[4294967295, 0]", [255, 255, 255, 255, 0, 0, 0, 0]],
  ["INT64", "[9007199254740993, -1]", [1, 0, 0, 0, 0, 0, 32, 0, 255, 255, 255, 255, 255, 255, 255, 255]],
  ["UINT64", "[18446744073709551615, 2]", [255, 255, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0, 0, 0]],
  ["FP32", "[1.5, -2]", [0, 0, 192, 63, 0, 0, 0, 192]],
  ["FP32", "[Inf, -Infinity]", [0, 0, 128, 127, 0, 0, 128, 255]],
  ["FP64", "[1e300, 0.5]", [...new Uint8Array(Float64Array.from([1e300, 0.5]).buffer)]],
  [
    "FP64",
    "[0.1234567890123456789, -1.2e-17]",
    [...new Uint8Array(Float64Array.from([0.12345678901234568, -1.2e-17]).buffer)],
  ],
  ["BYTES", '["ab", "ü"]', [2, 0, 0, 0, 97, 98, 2, 0, 0, 0, 195, 188]],
  ["FP16", '{"b64": "ADwAQA=="}', [0, 60, 0, 64]],
  ["BF16", '{"b64": "gD8AQA=="}', [128, 63, 0, 64]],
  ["BYTES", '{"b64": "AQAAAGEBAAAAYg=="}', [1, 0, 0, 0, 97, 1, 0, 0, 0, 98]],
];

for (const [datatype, json, bytes] of elements) {
  test(`${datatype} elements ${json}`, async () => {
    const dataset = await readTexts([`{"data": [{"IN": ${json}}]}`], makeModel([spec("IN", datatype, [2])]));
    assert.deepEqual(bytesOf(dataset), bytes);
  });
}

test("a string that looks like a long number or Infinity stays a string", async () => {
  const text = '{"data": [{"IN": ["12345678901234567890", "Infinity and NaN"]}]}';
  const dataset = await readTexts([text], makeModel([spec("IN", "BYTES", [2])]));
  assert.equal(new TextDecoder().decode(Uint8Array.from(bytesOf(dataset).slice(4, 24))), "12345678901234567890");
});

test("optional inputs may be left out, and are then not sent", async () => {
  const model = makeModel([spec("IN", "INT32", [1]), spec("OPT", "INT32", [1], { isOptional: true })]);
  const dataset = await read({ data: [{ IN: [1] }, { IN: [2], OPT: [3] }] }, model);
  const names = [0, 1].map((step) => assembleBatch(model, dataset.streams[0] ?? [], step, 1).map(({ name }) => name));
  assert.deepEqual(names, [["IN"], ["IN", "OPT"]]);
});

test("expected outputs stand beside their entries", async () => {
  const dataset = await read({ data: [{ IN: [1, 2, 3, 4] }], validation_data: [{ OUT: [5, 6] }] }, one);
  assert.deepEqual([...(dataset.streams[0]?.[0]?.expected.get("OUT")?.bytes ?? [])], int32(5, 6));
});

const wrong: readonly (readonly [
  name: string,
  text: string,
  problems: readonly (readonly [place: string, message: RegExp])[],
])[] = [
  ["no JSON", "{", [["0.json", /^failed to parse the specified json file/]]],
  ["no object", "[1]", [["0.json", /doesn't contain data field/]]],
  ["no data", '{"date": []}', [["0.json", /doesn't contain data field/]]],
  ["data is no array", '{"data": {}}', [["0.json", /doesn't contain data field/]]],
  ["an entry is no object", '{"data": [3]}', [["0.json, data[0]", /^Input data file is malformed$/]]],
  [
    "a missing tensor",
    '{"data": [{"IN": [1,2,3,4]}, {}]}',
    [["0.json, data[1]", /^missing tensor IN \( Location stream id: 0, step id: 1\)$/]],
  ],
  [
    "an unknown tensor",
    '{"data": [{"IN": [1,2,3,4], "X": [1]}]}',
    [["0.json, data[0].X", /'X' is not found in the model configuration/]],
  ],
  ["too few elements", '{"data": [{"IN": [1,2,3]}]}', [["0.json, data[0].IN", /Expected: 16 bytes, Got: 12 bytes/]]],
  [
    "a fraction for an integer",
    '{"data": [{"IN": [1,2,3.5,4]}]}',
    [["0.json, data[0].IN", /^unable to find int32_t data in json: element 2 is 3\.5$/]],
  ],
  [
    "a number out of range",
    '{"data": [{"IN": [1,2,3,4294967296]}]}',
    [["0.json, data[0].IN", /element 3 is 4294967296/]],
  ],
  ["a string for a number", '{"data": [{"IN": [1,"2",3,4]}]}', [["0.json, data[0].IN", /element 1 is "2"/]]],
  ["a scalar", '{"data": [{"IN": 5}]}', [["0.json, data[0].IN", /malformed/]]],
  ["b64 that is no string", '{"data": [{"IN": {"b64": 5}}]}', [["0.json, data[0].IN", /should be of type string/]]],
  ["b64 that is no base64", '{"data": [{"IN": {"b64": "%%"}}]}', [["0.json, data[0].IN", /is not base64/]]],
  ["b64 of the wrong length", '{"data": [{"IN": {"b64": "AAAA"}}]}', [["0.json, data[0].IN", /Got: 3 bytes/]]],
  ["shape without content", '{"data": [{"IN": {"shape": [4]}}]}', [["0.json, data[0].IN", /^missing content field$/]]],
  [
    "a shape of strings",
    '{"data": [{"IN": {"content": [1], "shape": ["4"]}}]}',
    [["0.json, data[0].IN", /shape values must be integers/]],
  ],
  [
    "a shape the model does not take",
    '{"data": [{"IN": {"content": [1,2,3,4], "shape": [2,2]}}]}',
    [
      [
        "0.json, data[0].IN",
        /supplied shape of \[2,2\] for input "IN" is incompatible with the model's input shape of \[4\]/,
      ],
    ],
  ],
  [
    "objects and arrays mixed",
    '{"data": [{"IN": [1,2,3,4]}, [{"IN": [1,2,3,4]}]]}',
    [["0.json, data[1]", /Can not have a combination of objects and arrays/]],
  ],
  [
    "validation of another length",
    '{"data": [{"IN": [1,2,3,4]}], "validation_data": []}',
    [["0.json", /'validation_data' field doesn't align/]],
  ],
  [
    "a bad expected output",
    '{"data": [{"IN": [1,2,3,4]}], "validation_data": [{"OUT": [1]}]}',
    [["0.json, validation_data[0].OUT", /Expected: 8 bytes, Got: 4 bytes/]],
  ],
  ["a step of a stream", '{"data": [[{"IN": [1,2,3,4]}, {"IN": [1]}]]}', [["0.json, data[0][1].IN", /Got: 4 bytes/]]],
];

for (const [name, text, expected] of wrong) {
  test(`refused: ${name}`, async () => {
    const problems = await problemsOf([text], one);
    assert.equal(problems.length, expected.length, JSON.stringify(problems));
    for (const [index, [place, message]] of expected.entries()) {
      assert.equal(problems[index]?.[0], place);
      assert.match(problems[index]?.[1] ?? "", message);
    }
  });
}

test("all mismatches of all files are told at once, by file, entry and tensor", async () => {
  const model = makeModel([spec("A", "INT32", [1]), spec("B", "FP32", [1])]);
  const texts = [
    '{"data": [{"A": [1]}, {"A": ["x"], "B": [1, 2]}]}',
    '{"data": [{"A": [1], "B": [2], "C": [3]}]}',
    "nonsense",
  ];
  assert.deepEqual(
    (await problemsOf(texts, model)).map(([place]) => place),
    ["0.json, data[0]", "0.json, data[1].A", "0.json, data[1].B", "1.json, data[0].C", "2.json"],
  );
});

test("a file full of mistakes gives a bounded number of problems", async () => {
  const data = Array.from({ length: 500 }, () => ({ IN: ["x"] }));
  const problems = await problemsOf([JSON.stringify({ data })], one);
  assert.ok(problems.length >= 10 && problems.length <= 50, String(problems.length));
});

test("FP16 and BF16 elements can not be written as numbers", async () => {
  for (const datatype of ["FP16", "BF16"] as const) {
    const problems = await problemsOf(['{"data": [{"IN": [1, 2]}]}'], makeModel([spec("IN", datatype, [2])]));
    assert.match(problems[0]?.[1] ?? "", /Can not use explicit tensor description/);
  }
});

test("a varying input without a shape is refused by name", async () => {
  const problems = await problemsOf(['{"data": [{"IN": [1, 2]}]}'], varying);
  assert.match(
    problems[0]?.[1] ?? "",
    /variable-sized tensor "IN" with model shape \[-1,-1\] needs to have its shape fully defined/,
  );
});

test("a file that is not there is named", async () => {
  await assert.rejects(readJsonFiles(["/nonexistent/data.json"], one), /\/nonexistent\/data\.json: cannot be read/);
});
