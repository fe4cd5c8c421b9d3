import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { runRampart } from "./command.ts";
import { openTriton, type TritonAddresses } from "./servers.ts";

/** Input data against a real Triton: what it takes, and what is refused with its file, its entry and its tensor. */

let triton: TritonAddresses;
const folder = makeFolder();
before(async () => {
  triton = await openTriton();
});
after(() => triton?.stop());

const LEFT = Array.from({ length: 16 }, (_, i) => i);
const RIGHT = new Array<number>(16).fill(1);
const ENTRY = { INPUT0: LEFT, INPUT1: RIGHT };
const OTHER = { INPUT0: RIGHT, INPUT1: RIGHT };
const SUMS = { OUTPUT0: LEFT.map((value) => value + 1), OUTPUT1: LEFT.map((value) => value - 1) };
const OTHER_SUMS = { OUTPUT0: new Array<number>(16).fill(2), OUTPUT1: new Array<number>(16).fill(0) };
const WRONG = { ...SUMS, OUTPUT1: RIGHT };
const bytesOf = (values: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const base64 = (values: readonly number[]): string => Buffer.from(bytesOf(values)).toString("base64");
const floats = (count: number): object => ({ content: new Array(count).fill(1.5), shape: [count] });

interface Case {
  readonly name: string;
  readonly model: string;
  readonly files: Readonly<Record<string, object | Uint8Array | string>>;
  /** Default: all files. */
  readonly given?: readonly string[];
  readonly flags?: readonly string[];
  /** What stderr must say; absent when the run succeeds. */
  readonly refused?: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "arrays, base64, content and shape, expected outputs in the same forms",
    model: "simple",
    files: {
      "a.json": {
        data: [ENTRY, { INPUT0: { b64: base64(LEFT) }, INPUT1: { content: { b64: base64(RIGHT) }, shape: [16] } }],
        validation_data: [SUMS, { OUTPUT0: { b64: base64(SUMS.OUTPUT0) }, OUTPUT1: { content: SUMS.OUTPUT1 } }],
      },
    },
  },
  {
    name: "several files, of which one says what comes back",
    model: "simple",
    files: { "a.json": { data: [ENTRY] }, "b.json": { data: [OTHER], validation_data: [OTHER_SUMS] } },
  },
  {
    name: "batches of different entries with expected outputs",
    model: "simple",
    files: { "a.json": { data: [ENTRY, OTHER, ENTRY], validation_data: [SUMS, OTHER_SUMS, SUMS] } },
    flags: ["-b", "2"],
  },
  {
    name: "a wrong output in the second file",
    model: "simple",
    files: {
      "a.json": { data: [ENTRY], validation_data: [SUMS] },
      "b.json": { data: [ENTRY], validation_data: [WRONG] },
    },
    refused: /: OUTPUT1 differs at byte 0 \(b\.json, data\[0\]\)/,
  },
  {
    name: "a wrong output of the second item of a batch",
    model: "simple",
    files: { "a.json": { data: [ENTRY, ENTRY], validation_data: [SUMS, WRONG] } },
    flags: ["-b", "2", "-i", "grpc"],
    refused: /: OUTPUT1 differs at byte 0 \(a\.json, data\[1\]\)/,
  },
  {
    name: "a shape per step, with and without --shape",
    model: "identity_fp32",
    files: {
      "a.json": {
        data: [{ INPUT0: floats(3) }, { INPUT0: new Array(4).fill(2.5) }],
        validation_data: [{ OUTPUT0: floats(3) }, {}],
      },
    },
    flags: ["--shape", "INPUT0:4"],
  },
  {
    name: "steps of one shape in a batch, order matters",
    model: "identity_fp32",
    files: { "a.json": { data: [3, 3, 4, 4].map((count) => ({ INPUT0: floats(count) })) } },
    flags: ["-b", "2"],
  },
  {
    name: "steps of different shapes in a batch",
    model: "identity_fp32",
    files: { "a.json": { data: [3, 4].map((count) => ({ INPUT0: floats(count) })) } },
    flags: ["-b", "2"],
    refused: /a\.json, data\[1\]\.INPUT0: .*\(input 'INPUT0' expected shape \[3\] and received \[4\]\)/,
  },
  {
    name: "texts",
    model: "identity_bytes",
    files: {
      "a.json": {
        data: [{ INPUT0: { content: ["", "ü"], shape: [2] } }],
        validation_data: [{ OUTPUT0: { content: ["", "ü"], shape: [2] } }],
      },
    },
    flags: ["--input-tensor-format", "json"],
  },
  {
    name: "too few texts",
    model: "identity_bytes",
    files: { "a.json": { data: [{ INPUT0: { content: ["a"], shape: [2] } }] } },
    refused: /a\.json, data\[0\]\.INPUT0: .*\. Expected: 2 elements, Got: 1 elements/,
  },
  {
    name: "an optional input in some entries only",
    model: "optional_in",
    files: { "a.json": { data: [{ INPUT0: [1, 2, 3, 4] }, { INPUT0: [1, 2, 3, 4], INPUT1: [1, 2, 3, 4] }] } },
  },
  {
    name: "entries and tensors that do not fit, all at once",
    model: "simple",
    files: {
      "a.json": {
        data: [
          { INPUT0: LEFT.slice(1), INPUT1: RIGHT },
          { INPUT0: LEFT, X: [1] },
        ],
      },
    },
    refused:
      /a\.json, data\[0\]\.INPUT0: [\s\S]*a\.json, data\[1\]\.X: [\s\S]*a\.json, data\[1\]: missing tensor INPUT1/,
  },
  {
    name: "no data",
    model: "simple",
    files: { "a.json": { data: [] } },
    refused: /^\S+ .*a\.json: .*\bempty\b/m,
  },
  {
    name: "a directory with expected outputs",
    model: "simple",
    files: { "d/INPUT0": bytesOf(LEFT), "d/INPUT1": bytesOf(RIGHT), "d/OUTPUT0": bytesOf(SUMS.OUTPUT0) },
    given: ["d"],
  },
  {
    name: "a directory with a wrong expected output",
    model: "simple",
    files: { "d/INPUT0": bytesOf(LEFT), "d/INPUT1": bytesOf(RIGHT), "d/OUTPUT0": bytesOf(LEFT) },
    given: ["d"],
    refused: /: OUTPUT0 differs at byte 0 \(d\)/,
  },
  {
    name: "a directory with lines of text",
    model: "identity_bytes",
    files: { "d/INPUT0": "a\nb\n", "d/OUTPUT0": "a\nb" },
    given: ["d"],
    flags: ["--shape", "INPUT0:2"],
  },
];

function write(at: string, files: Case["files"]): void {
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    const isText = typeof contents === "string" || contents instanceof Uint8Array;
    writeFileSync(join(at, name), isText ? contents : JSON.stringify(contents));
  }
}

describe("input data", () => {
  for (const [index, { name, model, files, given, flags = [], refused }] of CASES.entries()) {
    test(`${refused === undefined ? "is taken" : "is refused"}: ${name}`, async () => {
      const cwd = join(folder, String(index));
      write(cwd, files);
      const url = flags.includes("grpc") ? triton.grpc : triton.http;
      const data = (given ?? Object.keys(files)).flatMap((path) => ["--input-data", path]);
      const args = ["perf_analyzer", "-m", model, "-u", url, "--request-count", "10", ...data, ...flags];
      const { code, stderr } = await runRampart(args, { cwd });
      assert.equal(code, refused === undefined ? 0 : 99, stderr);
      if (refused !== undefined) assert.match(stderr, refused);
    });
  }

  test("what a scenario's data lacks is wrong usage", async () => {
    const cwd = join(folder, "scenario");
    const target = `triton("${triton.http}", { model: "simple" })`;
    write(cwd, {
      "empty.json": { data: [] },
      "x.ts": `import { defineScenario, hold, input, triton } from "rampart";\nexport default defineScenario({ name: "x", target: ${target}, load: hold(1, { requests: 5 }), inputs: input.json("./empty.json") });\n`,
    });
    const { code, stderr } = await runRampart(["run", join(cwd, "x.ts")], { cwd });
    assert.equal(code, 64, stderr);
    assert.match(stderr, /^\S+ .*empty\.json: .*\bempty\b/m);
  });
});
