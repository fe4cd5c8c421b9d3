import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { assembleBatch, checkBatches } from "../../src/inputs/batches.ts";
import type { Dataset } from "../../src/inputs/dataset.ts";
import { readJsonFiles } from "../../src/inputs/json-file.ts";
import { applyShapes } from "../../src/inputs/shapes.ts";
import { word } from "../../src/plan/messages.ts";
import { type Problem, UserError } from "../../src/plan/problem.ts";
import type { ModelInfo } from "../../src/service/service.ts";
import { makeFolder } from "../make-folder.ts";
import { makeModel, spec } from "./make-model.ts";

/** Writes the texts as files and reads them as a run does. */
async function readTexts(texts: readonly string[], model: ModelInfo): Promise<Dataset> {
  return withFiles(texts, (paths) => readJsonFiles(paths, model));
}

async function withFiles<T>(texts: readonly string[], use: (paths: readonly string[]) => Promise<T>): Promise<T> {
  const folder = makeFolder();
  const paths = texts.map((_, index) => join(folder, `${index}.json`));
  for (const [index, path] of paths.entries()) await writeFile(path, texts[index] as string);
  return await use(paths);
}

function read(data: object, model: ModelInfo): Promise<Dataset> {
  return readTexts([JSON.stringify(data)], model);
}

/** What is wrong with the texts: place below the folder, and message. */
async function problemsOf(
  texts: readonly string[],
  model: ModelInfo,
  batchSize = 1,
): Promise<[place: string, message: string][]> {
  let found: readonly Problem[] = [];
  try {
    checkBatches(await readTexts(texts, model), { model, batchSize });
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    found = error.problems;
  }
  for (const { hint } of found) assert.notEqual(hint, "");
  return found.map(({ path, message }) => [basename(word(path)), word(message)]);
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

test("nested arrays say their shape", async () => {
  const rows = [
    [1, 2],
    [3, 4],
    [5, 6],
  ];
  const dataset = await read({ data: [{ IN: rows }, { IN: { content: rows, shape: [3, 2] } }] }, varying);
  for (const stepNumber of [0, 1]) {
    assert.deepEqual(bytesOf(dataset, stepNumber), int32(1, 2, 3, 4, 5, 6));
    assert.deepEqual(dataset.streams[0]?.[stepNumber]?.inputs.get("IN")?.shape, [3, 2]);
  }
});

test("the shape in a file takes precedence over the one in the plan", async () => {
  const { model } = applyShapes(varying, { IN: [4, 4] });
  const elements = new Array(16).fill(1);
  const dataset = await read({ data: [{ IN: { content: elements, shape: [2, 8] } }, { IN: elements }] }, model);
  assert.deepEqual(
    dataset.streams[0]?.map(({ inputs }) => inputs.get("IN")?.shape),
    [
      [2, 8],
      [4, 4],
    ],
  );
  const tooFlat = JSON.stringify({ data: [{ IN: { content: elements, shape: [16] } }] });
  const [problem] = await problemsOf([tooFlat], model);
  assert.match(problem?.[1] ?? "", /\[16\] for input "IN" is incompatible with the model's input shape of \[-1,-1\]/);
});

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

/** Every documented form of an expected output. */
const expectedForms: readonly unknown[] = [
  [5, 6],
  { content: [5, 6], shape: [2] },
  { b64: "BQAAAAYAAAA=" },
  { content: { b64: "BQAAAAYAAAA=" } },
];

test("expected outputs have all the forms of inputs, in steps, streams and several files", async () => {
  const entry = { IN: [1, 2, 3, 4] };
  const outputs = expectedForms.map((form) => ({ OUT: form }));
  const steps = { data: outputs.map(() => entry), validation_data: outputs };
  const streams = { data: [outputs.map(() => entry), [entry]], validation_data: [outputs, [{}]] };
  const files = [{ data: [entry] }, steps].map((file) => JSON.stringify(file));
  for (const [dataset, first] of [
    [await read(steps, one), 0],
    [await read(streams, one), 0],
    [await readTexts(files, one), 1],
  ] as const) {
    const found = dataset.streams[0]?.map(({ expected }) => [...(expected.get("OUT")?.bytes ?? [])]);
    assert.deepEqual(found?.slice(first), new Array(4).fill(int32(5, 6)));
    if (first === 1) assert.deepEqual(found?.[0], []);
  }
});

test("steps say where they were read", async () => {
  const steps = JSON.stringify({ data: [{ IN: [1, 2, 3, 4] }, { IN: [1, 2, 3, 4] }] });
  const places = (await readTexts([steps, steps], one)).streams[0]?.map(({ place }) => basename(place ?? ""));
  assert.deepEqual(places, ["0.json, data[0]", "0.json, data[1]", "1.json, data[0]", "1.json, data[1]"]);
  const streams = await readTexts([JSON.stringify({ data: [[{ IN: [1, 2, 3, 4] }]] })], one);
  assert.equal(basename(streams.streams[0]?.[0]?.place ?? ""), "0.json, data[0][0]");
});

test("empty data is allowed beside other files, and refused alone", async () => {
  const empty = '{"data": []}';
  const full = '{"data": [{"IN": [1,2,3,4]}]}';
  for (const texts of [
    [empty, full],
    [full, empty],
  ])
    assert.equal((await readTexts(texts, one)).streams[0]?.length, 1);
  assert.deepEqual(await problemsOf([empty, empty], one), [
    ["0.json", "the data field is empty: unable to find data for input 'IN'"],
    ["1.json", "the data field is empty: unable to find data for input 'IN'"],
  ]);
});

test("steps of one batch must have one shape, in every batch there will be", async () => {
  const entry = (...shape: number[]): object => ({ IN: { content: new Array(4).fill(1), shape } });
  const textOf = (...entries: object[]): string => JSON.stringify({ data: entries });
  const [flat, tall] = [entry(1, 4), entry(4, 1)];
  assert.deepEqual(await problemsOf([textOf(flat, tall, flat, tall)], varying), []);
  assert.deepEqual(await problemsOf([textOf(flat, flat, tall, tall)], varying, 2), []);
  const message =
    "can not batch tensors with different shapes together (input 'IN' expected shape [1,4] and received [4,1])";
  assert.deepEqual(await problemsOf([textOf(flat, tall, flat, tall)], varying, 2), [
    ["0.json, data[1].IN", message],
    ["0.json, data[3].IN", message],
  ]);
  // Three steps in batches of two begin everywhere.
  assert.equal((await problemsOf([textOf(flat, flat, tall)], varying, 2)).length, 2);
  // Only the first stream is sent in batches.
  const streams = JSON.stringify({
    data: [
      [flat, flat],
      [flat, flat, tall, tall],
    ],
  });
  assert.deepEqual(await problemsOf([streams], varying, 2), []);
  const flatModel = makeModel([spec("IN", "INT32", [-1, -1])], [], { maxBatchSize: 0 });
  assert.deepEqual(await problemsOf([textOf(flat, tall)], flatModel, 2), []);
});

test("validation data of one batch must be of the same outputs", async () => {
  const entry = { IN: [1, 2, 3, 4] };
  const text = JSON.stringify({ data: [entry, entry], validation_data: [{ OUT: [5, 6] }, {}] });
  assert.deepEqual(await problemsOf([text], one), []);
  const problems = await problemsOf([text], one, 2);
  assert.equal(problems[0]?.[0], "0.json, data[1].OUT");
  assert.match(
    problems[0]?.[1] ?? "",
    /is in the validation data of one item of the batch .*data\[0\]\) but not of another/,
  );
});

test("expected outputs are beside their entries", async () => {
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
  ["b64 of 4n+1 characters", '{"data": [{"IN": {"b64": "AAAAA"}}]}', [["0.json, data[0].IN", /is not base64/]]],
  [
    "arrays nested otherwise than the model's shape",
    '{"data": [{"IN": [[1,2],[3,4]]}]}',
    [["0.json, data[0].IN", /supplied shape of \[2,2\] .* input shape of \[4\]/]],
  ],
  ["ragged arrays", '{"data": [{"IN": [[1,2,3],[4]]}]}', [["0.json, data[0].IN", /different lengths/]]],
  ["elements beside arrays", '{"data": [{"IN": [1,[2,3,4]]}]}', [["0.json, data[0].IN", /different lengths/]]],
  [
    "arrays nested otherwise than their shape",
    '{"data": [{"IN": {"content": [[1,2],[3,4]], "shape": [4]}}]}',
    [["0.json, data[0].IN", /nested as \[2,2\], the shape is \[4\]/]],
  ],
  [
    "a negative shape",
    '{"data": [{"IN": {"content": [1], "shape": [-1]}}]}',
    [["0.json, data[0].IN", /shape values must be integers of 0 or more/]],
  ],
  ["a shape that is no list", '{"data": [{"IN": {"content": [1], "shape": 4}}]}', [["0.json, data[0].IN", /^shape/]]],
  ["a stream without steps", '{"data": [[], [{"IN": [1,2,3,4]}]]}', [["0.json, data[0]", /stream has no steps/]]],
  [
    "validation streams for steps",
    '{"data": [{"IN": [1,2,3,4]}], "validation_data": [[{"OUT": [5,6]}]]}',
    [["0.json, validation_data[0]", /doesn't align/]],
  ],
  [
    "validation steps for streams",
    '{"data": [[{"IN": [1,2,3,4]}]], "validation_data": [{"OUT": [5,6]}]}',
    [["0.json, validation_data[0]", /doesn't align/]],
  ],
  [
    "an input in the validation data",
    '{"data": [{"IN": [1,2,3,4]}], "validation_data": [{"IN": [1,2,3,4]}]}',
    [["0.json, validation_data[0].IN", /'IN' is not found/]],
  ],
  ["validation that is null", '{"data": [{"IN": [1,2,3,4]}], "validation_data": null}', [["0.json", /doesn't align/]]],
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

test("all mismatches of all files are reported together, by file, entry and tensor", async () => {
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
  assert.equal(problems.length, 21);
  assert.deepEqual(problems.at(-1), ["0.json, data[499].IN", "480 more problems of this kind"]);
});

const mismatched: readonly (readonly [datatype: Parameters<typeof spec>[1], json: string, message: RegExp])[] = [
  ["BYTES", '["a"]', /mismatch in the data provided for IN\. Expected: 2 elements, Got: 1 elements/],
  ["BYTES", '{"b64": "AQAAAGE="}', /Expected: 2 elements, Got: 1 elements/],
  ["BYTES", '{"b64": "/////w=="}', /lengths of the elements in the b64 field do not add up/],
  ["FP32", "[1e300, 1.5]", /unable to find float data in json: element 0 is 1e\+300/],
  ["BOOL", "[1, 0]", /unable to find bool data in json: element 0 is 1/],
  ["UINT8", "[256, 0]", /element 0 is 256/],
];

for (const [datatype, json, message] of mismatched) {
  test(`refused: ${datatype} elements ${json}`, async () => {
    const problems = await problemsOf([`{"data": [{"IN": ${json}}]}`], makeModel([spec("IN", datatype, [2])]));
    assert.equal(problems[0]?.[0], "0.json, data[0].IN");
    assert.match(problems[0]?.[1] ?? "", message);
  });
}

test("a tensor of no elements has none", async () => {
  const textOf = (content: number[]): string => JSON.stringify({ data: [{ IN: { content, shape: [0, 3] } }] });
  assert.deepEqual(bytesOf(await readTexts([textOf([])], varying)), []);
  assert.match((await problemsOf([textOf([1])], varying))[0]?.[1] ?? "", /Expected: 0 bytes, Got: 4 bytes/);
});

test("FP16 and BF16 elements may be numbers, but not in perf_analyzer mode", async () => {
  for (const [datatype, bytes] of [
    ["FP16", [0x00, 0x3c, 0x00, 0xc1]],
    ["BF16", [0x80, 0x3f, 0x20, 0xc0]],
  ] as const) {
    const model = makeModel([spec("IN", datatype, [2])]);
    const text = '{"data": [{"IN": [1, -2.5]}]}';
    assert.deepEqual(bytesOf(await readTexts([text], model)), bytes);
    const refused = withFiles([text], (paths) =>
      readJsonFiles(paths, model, false, undefined, undefined, { refusesShortFloats: true }),
    );
    await assert.rejects(refused, /Can not use explicit tensor description/);
  }
  const [large] = await problemsOf(['{"data": [{"IN": [65520, 1]}]}'], makeModel([spec("IN", "FP16", [2])]));
  assert.match(large?.[1] ?? "", /unable to find fp16 data in json: element 0 is 65520/);
});

test("the shape of an expected output is given beside it", async () => {
  const model = { ...one, outputs: [spec("OUT", "INT32", [-1])] };
  const first = (text: string): Promise<readonly [string, string, string] | undefined> =>
    withFiles([text], (paths) => readJsonFiles(paths, model)).then(
      () => undefined,
      ({ problems: [found] }: UserError) => [
        word(found?.path ?? ""),
        word(found?.message ?? ""),
        word(found?.hint ?? ""),
      ],
    );
  const entry = (out: string): string => `{"data": [{"IN": [1, 2, 3, 4]}], "validation_data": [{"OUT": ${out}}]}`;
  const [path, message, hint] = (await first(entry("[1]"))) ?? [];
  assert.match(path ?? "", /validation_data\[0\]\.OUT$/);
  assert.match(message ?? "", /needs to have its shape fully defined$/);
  assert.equal(hint, 'Add "shape" to the expected tensor.');
  assert.equal(await first(entry('{"content": [1], "shape": [1]}')), undefined);
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

describe("files that are too large to be held", () => {
  const documents: readonly (readonly [name: string, texts: readonly string[]])[] = [
    [
      "steps, with expected outputs before them",
      ['{"validation_data": [{"OUT": [1,2]}, {}], "data": [{"IN": [1,2,3,4]}, {"IN": {"content": [5,6,7,8]}}]}'],
    ],
    [
      "streams, and a key that means nothing",
      ['{"data": [[{"IN": [1,2,3,4]}, {"IN": [5,6,7,8]}], [{"IN": [9,9,9,9]}]], "more": [{}]}'],
    ],
    ["two files", ['{"data": [{"IN": [1,2,3,4]}]}', '{"data": [{"IN": [5,6,7,8]}]}']],
  ];
  const contents = ({ streams }: Dataset): unknown =>
    streams.map((steps) =>
      steps.map(({ inputs, expected, place }) => ({
        in: inputs.get("IN"),
        names: [...inputs.keys()],
        expected: [...expected],
        place: basename(place ?? ""),
      })),
    );

  for (const [name, texts] of documents) {
    test(`${name}: the same data as if they were held`, async () => {
      await withFiles(texts, async (paths) => {
        const stored = await readJsonFiles(paths, one, false, undefined, 0);
        assert.equal(stored.isStored, true);
        const held = await readJsonFiles(paths, one);
        assert.equal(held.isStored, undefined);
        assert.deepEqual(contents(stored), contents(held));
        assert.equal(
          stored.hasExpected,
          texts.some((text) => text.includes('"OUT"')),
        );
      });
    });
  }

  test("times put steps in order", async () => {
    const text = '{"data": [{"IN": [1,2,3,4], "timestamp": [30]}, {"IN": [5,6,7,8], "timestamp": 10}]}';
    await withFiles([text], async (paths) => {
      const { streams } = await readJsonFiles(paths, one, true, undefined, 0);
      assert.deepEqual(
        streams[0]?.map(({ timestampMs, inputs }) => [timestampMs, [...(inputs.get("IN")?.bytes ?? [])]]),
        [
          [10, int32(5, 6, 7, 8)],
          [30, int32(1, 2, 3, 4)],
        ],
      );
    });
  });

  for (const [name, text, place] of [
    ["a step that does not fit", '{"data": [{"IN": [1,2,3,4]}, {"IN": [1]}]}', "data[1].IN"],
    ["an entry that is not JSON", '{"data": [{"IN": [1,2,3,4]}, {"IN": [1,,2]}]}', "byte 29"],
    ["a file that ends too early", '{"data": [{"IN": [1,2,3,4]}, {"IN": [1', "byte"],
    ["no list of data", '{"data": {"IN": [1,2,3,4]}}', "0.json"],
  ] as const) {
    test(`refused: ${name}`, async () => {
      await withFiles([text], async (paths) => {
        await assert.rejects(readJsonFiles(paths, one, false, undefined, 0), (error: unknown) => {
          assert.ok(error instanceof UserError);
          assert.ok(error.message.includes(place), error.message);
          return true;
        });
      });
    });
  }

  test("a file that changes while a run lasts is reported", async () => {
    await withFiles(['{"data": [{"IN": [1,2,3,4]}]}'], async (paths) => {
      const { streams } = await readJsonFiles(paths, one, false, undefined, 0);
      await writeFile(paths[0] as string, "{}");
      assert.throws(() => streams[0]?.[0]?.inputs, /byte 10: .*shorter/);
    });
  });
});

describe("tags of entries", () => {
  const text = '{"data":[{"IN":[1,1,1,1],"tags":{"length":"long"}},{"IN":[2,2,2,2]}]}';

  for (const maxHeldBytes of [undefined, 0])
    test(`${maxHeldBytes === 0 ? "stored" : "held"}: are read where they are wanted`, async () => {
      await withFiles([text], async (paths) => {
        const { streams, hasTags } = await readJsonFiles(paths, one, false, undefined, maxHeldBytes, {
          readsTags: true,
        });
        const found = streams[0]?.map(({ tags, inputs }) => [tags, inputs.get("IN")?.bytes[0]]);
        assert.deepEqual(
          [found, hasTags],
          [
            [
              [{ length: "long" }, 1],
              [undefined, 2],
            ],
            true,
          ],
        );
      });
    });

  test("are a tensor that the model lacks, where they are not wanted", async () => {
    await withFiles([text], async (paths) => {
      await assert.rejects(readJsonFiles(paths, one), /'tags' is not found in the model configuration/);
    });
  });

  test("that are none are named", async () => {
    await withFiles(['{"data":[{"IN":[1,1,1,1],"tags":"long"}]}'], async (paths) => {
      await assert.rejects(
        readJsonFiles(paths, one, false, undefined, undefined, { readsTags: true }),
        /data\[0\]\.tags: must be an object of texts, numbers or booleans/,
      );
    });
  });
});
