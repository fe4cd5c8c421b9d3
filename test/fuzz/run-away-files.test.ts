import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { type AnsweringKserve, startHttp } from "./answering-kserve.ts";
import { type BoundedResult, runBounded } from "./bounded-process.ts";
import { assertEndsWell } from "./command.ts";

/** Files that are endless, huge, or small but expand: every door that reads a file refuses them, within little memory and time. */

const folder = makeFolder();
let server: AnsweringKserve<string>;
before(async () => {
  server = await startHttp();
  // Sparse: takes no room on the disk.
  const huge = await open(join(folder, "huge"), "w");
  await huge.truncate(4 * 2 ** 30);
  await huge.close();
  await writeFile(join(folder, "image.jsonl"), '{"image": "/dev/zero", "text": "x"}\n');
  await writeFile(join(folder, "huge-image.jsonl"), `{"image": "${join(folder, "huge")}", "text": "x"}\n`);
  await writeFile(join(folder, "main.proto"), 'syntax = "proto3";\nimport "endless.proto";\n');
  await symlink("/dev/zero", join(folder, "endless.proto"));
  await writeFile(join(folder, "messages.json"), '{"data": [{"messages": [{}]}]}');
  for (const [name, file] of [
    ["tensors", "IN"],
    ["tokenizer", "tokenizer.json"],
    ["hosts/a", "profile_export.json"],
  ] as const) {
    await mkdir(join(folder, name), { recursive: true });
    await symlink("/dev/zero", join(folder, name, file));
  }
  await writeFile(join(folder, "hosts/a/profile_export_genai_perf.json"), '{"input_config": {}}');
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await mkdir(join(folder, "checkpoint"));
  await symlink("/dev/zero", join(folder, "checkpoint/checkpoint.json"));
});
after(() => server.stop());

/** Runs a command line; `DIR` is the folder, `URL` the server. */
async function run(line: string, stdin?: string): Promise<BoundedResult> {
  const args = line.split(" ").map((word) => word.replace("DIR", folder).replace("URL", server.url));
  const env = { HF_HUB_OFFLINE: "1" };
  const result = await runBounded(args, { env, ...(stdin === undefined ? {} : { stdin }) });
  assert.notEqual(result.code, null, `${line} was killed at ${result.peakMiB} MiB:\n${result.err.slice(0, 2000)}`);
  assertEndsWell({ ...result, code: result.code ?? -1, thrown: undefined }, [1, 64, 99], line);
  return result;
}

const PA = "perf_analyzer -m m --request-count 1 -u URL";
const GENAI = "genai-perf profile -m m --endpoint-type chat --artifact-dir DIR/artifacts --request-count 1 -u URL";
const SCENARIO = `import { defineScenario, triton, hold, input, directory } from "rampart";`;

/** Options that check for a file themselves have the original's words. */
const DEVICE = /it is a device, not a file|must be a valid file path|Template file not found/;
const LARGE = /it is larger than the maximum of (?:16 MiB|256 MiB|1 GiB)/;

/** Each is given a device, and a file of 4 GiB. */
const DOORS: readonly (readonly [name: string, line: string, isStreamed?: true])[] = [
  ["the body of a request", "http URL --requests 1 -d @FILE"],
  ["a part of a form", "http URL --requests 1 --form image=@FILE"],
  ["a report to compare", "compare FILE FILE"],
  ["a configuration", "genai-perf config -f FILE"],
  ["a list of intervals", `${PA} --request-intervals FILE`],
  [
    "a certificate",
    "perf_analyzer -m m --request-count 1 --ssl-https-ca-certificates-file FILE -u https://localhost:1",
  ],
  [
    "a description of messages",
    "perf_analyzer --service-kind dynamic_grpc -m m --grpc-method a.B/C --input-data DIR/messages.json --proto FILE -u URL",
  ],
  [
    "a template of payloads",
    "genai-perf profile -m m --endpoint-type template --endpoint v1/x --extra-inputs payload_template:FILE --tokenizer none -u URL",
  ],
  ["prompts", `${GENAI} --tokenizer none --input-file FILE`, true],
];

describe("endless and huge files", () => {
  for (const [name, line, isStreamed] of DOORS) {
    test(`${name}: a device`, LIMIT, async () => {
      assert.match((await run(line.replaceAll("FILE", "/dev/zero"))).err, DEVICE);
    });
    test(`${name}: 4 GiB`, LIMIT, async () => {
      const { err } = await run(line.replaceAll("FILE", "DIR/huge"));
      assert.match(err, isStreamed ? /is longer than 32 MiB/ : LARGE);
    });
  }

  const OTHERS: readonly (readonly [name: string, line: string, said: RegExp])[] = [
    ["a report that is a named pipe", "compare DIR/pipe DIR/pipe", /it is a named pipe, not a file/],
    ["a body that is a named pipe", "http URL --requests 1 -d @DIR/pipe", /it is a named pipe, not a file/],
    ["a huge report", "report DIR/huge", /maximum of 256 MiB\. Give the file of --json/],
    ["a scenario", "run /dev/zero", /is not a regular file/],
    ["data of requests", `${PA} --input-data /dev/zero`, DEVICE],
    ["a huge file of data", `${PA} --input-data DIR/huge`, /an object is missing/],
    ["a raw tensor", `${PA} --input-data DIR/tensors`, /failed to open file/],
    ["an image in a file of prompts", `${GENAI} --tokenizer none --input-file DIR/image.jsonl`, DEVICE],
    ["a huge image in a file of prompts", `${GENAI} --tokenizer none --input-file DIR/huge-image.jsonl`, LARGE],
    [
      "an import",
      "perf_analyzer --service-kind dynamic_grpc -m m --grpc-method a.B/C --input-data DIR/messages.json --proto DIR/main.proto -u URL",
      DEVICE,
    ],
    ["a tokenizer", `${GENAI} --tokenizer DIR/tokenizer`, DEVICE],
    ["a profile export", "genai-perf process-export-files -d DIR/hosts --artifact-dir DIR/merged", /./],
    ["a checkpoint", `${GENAI} --tokenizer none --enable-checkpointing --checkpoint-dir DIR/checkpoint`, DEVICE],
  ];
  for (const [name, line, said] of OTHERS)
    test(name, LIMIT, async () => {
      assert.match((await run(line)).err, said);
    });

  test("standard input", LIMIT, async () => {
    assert.match((await run("http URL --requests 1 -d @-", "/dev/zero")).err, LARGE);
  });

  test("a huge scenario of code", LIMIT, async () => {
    const file = await open(join(folder, "huge.ts"), "w");
    await file.write(SCENARIO);
    await file.truncate(4 * 2 ** 30);
    await file.close();
    assert.match((await run("run DIR/huge.ts")).err, LARGE);
  });
});

const LAUGHS = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"];
for (let level = 1; level < 9; level++) {
  const [own, below] = ["abcdefghi"[level] as string, "abcdefghi"[level - 1] as string];
  LAUGHS.push(`${own}: &${own} [${Array(10).fill(`*${below}`).join(", ")}]`);
}

/** YAML that is small, and costs much if nothing looks. */
const EXPANDING: readonly (readonly [name: string, text: string, said: RegExp])[] = [
  ["an anchor that contains itself twice", "a: &a [*a, *a]\n", /1:8.*&a contains itself/],
  ["an anchor that contains itself by way of another", "a: &a {b: &b [*a, *b]}\n", /&a contains itself/],
  ["aliases of aliases", `${LAUGHS.join("\n")}\n`, /more than 200000 values/],
  ["as a merge", `a: &a {x: 1}\n${"b: &b {<<: *a, y: *a}\n"}c: &c {<<: *c}\n`, /&c contains itself/],
  ["levels by way of aliases", levels(300), /nested deeper than 500 levels/],
  ["100,000 open brackets", "[".repeat(100_000), /nested deeper than 500 levels/],
  ["100,000 levels", `a: ${"[".repeat(100_000)}${"]".repeat(100_000)}`, /nested deeper than 500 levels/],
  [
    "a level per line",
    Array.from({ length: 900 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
    /nested deeper than 500/,
  ],
  ["90,000 keys", Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join("\n"), /k0|90000 items/],
  ["50,000 aliases", `a: &a 1\nb: [${"*a, ".repeat(50_000)}]`, /\ba\b|50000 items/],
  ["2 MiB", "# comment\n".repeat(210_000), /longer than 1024 KiB/],
  ["a mistake in each of 50,000 lines", "a: b: c\n".repeat(50_000), /./],
];

/** Values whose text has few levels, but twice 300 with aliases written out. */
function levels(count: number): string {
  return `a: &a ${"[".repeat(count)}1${"]".repeat(count)}\nb: ${"[".repeat(count)}*a${"]".repeat(count)}\n`;
}

describe("YAML that expands", () => {
  for (const [name, text, said] of EXPANDING)
    for (const [door, line] of [
      ["a configuration", "genai-perf config -f DIR/bomb.yaml"],
      ["a scenario", "run DIR/bomb.yaml"],
    ] as const)
      test(`${name}, in ${door}`, LIMIT, async () => {
        await writeFile(join(folder, "bomb.yaml"), text);
        assert.match((await run(line)).err, said);
      });
});
