import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { readJsonLines, readJsonObjects } from "../../../src/inputs/prompts/json-lines.ts";
import { readLines } from "../../../src/inputs/prompts/lines.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { toArray, withFiles } from "./collect.ts";

function read<T>(content: string | Uint8Array, reader: (path: string) => AsyncIterable<T>): Promise<T[]> {
  return withFiles({ "data.jsonl": content }, (folder) => toArray(reader(join(folder, "data.jsonl"))));
}

/** The error's text without the folder. */
async function problemOf(content: string, reader: (path: string) => AsyncIterable<unknown>): Promise<string> {
  try {
    await read(content, reader);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error.message.replaceAll(/\S*\/(?=data\.jsonl)/g, "");
  }
  throw new Error("nothing was refused");
}

test("lines come with their numbers, without blank ones, line ends and a byte order mark", async () => {
  const lines = await read("\uFEFF a\r\n\n  \nb\nlast", readLines);
  assert.deepEqual(lines, [
    { number: 1, text: "a" },
    { number: 4, text: "b" },
    { number: 5, text: "last" },
  ]);
  assert.deepEqual(await read("", readLines), []);
});

test("lines longer than a piece of the file come whole, characters of several bytes too", async () => {
  const long = "ä€🙂".repeat(70_000);
  const lines = await read(`x\n${long}\ny`, readLines);
  assert.deepEqual(
    lines.map(({ text }) => text),
    ["x", long, "y"],
  );
});

test("a line, or an object, of more than 32 Mi characters is refused, with its place", async () => {
  async function* texts(beginning: string, more: number): AsyncGenerator<string> {
    yield beginning;
    for (let pieces = 0; pieces < 31; pieces++) yield "x".repeat(2 ** 20);
    yield "x".repeat(more);
    yield '"}';
  }
  const places = [readJsonLines, readJsonObjects].map(async (reader) => {
    const [entry] = await toArray(reader("a.jsonl", texts('{"text": "', 1000)));
    assert.equal(String(entry?.value["text"]).length, 31 * 2 ** 20 + 1000);
    await assert.rejects(
      toArray(reader("a.jsonl", texts('\n{"text": "', 2 ** 20))),
      (error) => error instanceof UserError && /^a\.jsonl, line 2: is longer than 32 MiB/.test(error.message),
    );
  });
  await Promise.all(places);
});

test("a missing file is named", async () => {
  await assert.rejects(
    toArray(readLines("no-such-file.jsonl")),
    (error) => error instanceof UserError && /^no-such-file\.jsonl: cannot be read/.test(error.message),
  );
});

test("any objects come back from their lines and from an array of them", async () => {
  const objects = fc.array(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(objects, fc.constantFrom(undefined, 2), async (values, indent) => {
      const plain = JSON.parse(JSON.stringify(values)) as unknown[];
      const lines = plain.map((value) => JSON.stringify(value)).join("\n");
      assert.deepEqual(
        (await read(lines, readJsonLines)).map(({ value }) => value),
        plain,
      );
      assert.deepEqual(
        (await read(lines, readJsonObjects)).map(({ value }) => value),
        plain,
      );
      const array = JSON.stringify(plain, null, indent);
      assert.deepEqual(
        (await read(array, readJsonObjects)).map(({ value }) => value),
        plain,
      );
    }),
    { numRuns: 30 },
  );
});

test("objects of an array larger than a piece of the file come whole, with their lines", async () => {
  const values = Array.from({ length: 3000 }, (_, id) => ({ id, text: '}{"\\ '.repeat(40) }));
  const records = await read(JSON.stringify(values, null, 1), readJsonObjects);
  assert.deepEqual(
    records.map(({ value }) => value),
    values,
  );
  assert.match(records[2]?.place ?? "", /data\.jsonl, line 10$/);
});

const badLines: [content: string, message: RegExp][] = [
  ['{"text": "a"}\n{"text": \n', /^data\.jsonl, line 2: is not JSON: .*\. Write one object per line/],
  ['{"text": "a"}\n"b"', /^data\.jsonl, line 2: is not a JSON object \(got "b"\)/],
  ['[{"text": "a"}, {"text": "b"}]', /^data\.jsonl: is JSON, but JSON Lines is expected.*jq -c/],
  ['[\n  {"text": "a"},\n  {"text": "b"}\n]', /^data\.jsonl: is JSON, but JSON Lines is expected/],
  ['{\n  "text": "a"\n}', /^data\.jsonl: is JSON, but JSON Lines is expected/],
  ['\n\n{"data": [\n{"text": "a"}]}', /^data\.jsonl: is JSON, but JSON Lines is expected/],
];

test("invalid JSON Lines are rejected with their line; a JSON file is recognized", async () => {
  for (const [content, message] of badLines) assert.match(await problemOf(content, readJsonLines), message);
});

const badObjects: [content: string, message: RegExp][] = [
  ["[1, 2]", /^data\.jsonl, line 1: has '1' where an object is expected/],
  ['[\n{"a": 1},\n{"a": 2', /^data\.jsonl: ends within an object/],
  ['{"a": 1}\n{"a": 1,}', /^data\.jsonl, line 2: is not JSON/],
  ["text,b\n1,2", /^data\.jsonl, line 1: has 't' where an object is expected/],
];

test("what holds no objects is refused with its place", async () => {
  for (const [content, message] of badObjects) assert.match(await problemOf(content, readJsonObjects), message);
});
