import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Dataset } from "../../src/inputs/dataset.ts";
import { readFileLists, readFiles } from "../../src/inputs/file-payloads.ts";
import { UserError } from "../../src/plan/problem.ts";
import { makeFolder } from "../make-folder.ts";

const folder = makeFolder();
mkdirSync(join(folder, "images", "deep"), { recursive: true });
for (const [name, text] of Object.entries({
  "a.txt": "A",
  "images/1.jpg": "one",
  "images/2.jpg": "two",
  "images/3.png": "three",
  "images/.hidden.jpg": "hidden",
  "images/deep/4.jpg": "four",
  "odd[1]+.txt": "odd",
  "literal*.txt": "star",
}))
  writeFileSync(join(folder, name), text);

const at = (path: string): string => join(folder, path);

function texts({ streams }: Dataset): string[][] {
  return streams.map((steps) => steps.map(({ payload }) => new TextDecoder().decode(payload)));
}

async function problemsOf(reading: Promise<unknown>): Promise<string[]> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof UserError, String(error));
  return error.problems.map(({ path, message }) => `${path}: ${message}`.replaceAll(`${folder}/`, ""));
}

let listNumber = 0;
function list(data: unknown): string {
  const path = at(`list-${listNumber++}.json`);
  writeFileSync(path, JSON.stringify({ data }));
  return path;
}

describe("files", () => {
  test("are payloads, in the order of their names and patterns", async () => {
    const cases: readonly (readonly [string[], string[]])[] = [
      [["a.txt"], ["A"]],
      [
        ["images/2.jpg", "a.txt"],
        ["two", "A"],
      ],
      [["images/*.jpg"], ["one", "two"]],
      [["images/?.*"], ["one", "two", "three"]],
      [["im*s/d??p/*"], ["four"]],
      [["images/.*.jpg"], ["hidden"]],
      [["odd[1]+.t?t"], ["odd"]],
      [["literal*.txt"], ["star"]],
    ];
    for (const [paths, expected] of cases)
      assert.deepEqual(texts(await readFiles(paths.map(at))), [expected], paths.join(" "));
  });

  test("that cannot be read are reported together", async () => {
    assert.deepEqual(await problemsOf(readFiles([at("images/*.gif"), at("missing.bin"), at("images")])), [
      "images/*.gif: matches no file",
      `missing.bin: Failed to open the specified file \`missing.bin\`: ENOENT: no such file or directory, access 'missing.bin'`,
      "images: Failed to open the specified file `images`: is a folder",
    ]);
  });

  test("larger than may be held are read when they are sent", async () => {
    const data = await readFiles([at("images/*.jpg")], 5);
    assert.equal(data.isStored, true);
    assert.deepEqual(texts(data), [["one", "two"]]);
    writeFileSync(at("images/2.jpg"), "TWO");
    assert.deepEqual(texts(data), [["one", "TWO"]]);
    rmSync(at("images/2.jpg"));
    assert.throws(() => texts(data), /Do not change the files|images\/2\.jpg/);
    writeFileSync(at("images/2.jpg"), "two");
  });

  test("are read once when they are held", async () => {
    const path = list([{ F: [at("a.txt")] }, { F: [at("images/1.jpg")] }, { F: [at("a.txt")] }]);
    const data = await readFileLists([path], "F", false);
    assert.deepEqual(texts(data), [["A", "one", "A"]]);
    const [steps = []] = data.streams;
    assert.equal(steps[0]?.payload, steps[2]?.payload);
  });
});

describe("a list of files", () => {
  test("may have several streams, and times", async () => {
    const streams = list([[{ F: [at("a.txt")] }], [{ F: [at("images/1.jpg")] }, { F: [at("images/2.jpg")] }]]);
    assert.deepEqual(texts(await readFileLists([streams], "F", false)), [["A"], ["one", "two"]]);
    const timed = list([
      { F: [at("a.txt")], timestamp: [20] },
      { F: [at("images/1.jpg")], timestamp: [10] },
    ]);
    const { streams: sorted } = await readFileLists([timed], "F", true);
    assert.deepEqual(
      sorted[0]?.map(({ timestampMs }) => timestampMs),
      [10, 20],
    );
  });

  test("reports every entry that names no file, or more than one", async () => {
    const cases: readonly (readonly [unknown, RegExp[]])[] = [
      [
        [{ G: ["x"] }],
        [
          /data\[0\]\.G: The input or output 'G' is not found/,
          /missing tensor F \( Location stream id: 0, step id: 0\)/,
        ],
      ],
      [
        [{ F: [at("a.txt"), at("a.txt")] }],
        [/data\[0\]\.F: mismatch in the data provided for F\. Expected: 1 elements, Got: 2/],
      ],
      [[{ F: [""] }], [/data\[0\]\.F: names no file/]],
      [
        [{ F: [at("gone")] }, { F: [at("away")] }],
        [/data\[0\]: Failed to open the specified file `gone`/, /data\[1\]: Failed to open the specified file `away`/],
      ],
    ];
    for (const [data, expected] of cases) {
      const found = await problemsOf(readFileLists([list(data)], "F", false));
      assert.equal(found.length, expected.length, found.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? "", pattern);
    }
  });
});
