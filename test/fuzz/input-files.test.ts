import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { makeFolder, writeIn } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { type AnsweringKserve, startHttp } from "./answering-kserve.ts";
import { fewerRuns } from "./bounds.ts";
import { assertEndsWell, CODES, type Ended, runDoor } from "./command.ts";
import { DEEP_LIST, DEEP_OBJECT, oddJson } from "./odd-json.ts";

/** Files that users give: data of tensors, payloads, prompts, exports and settings. A run or clear errors, whatever is in them. */

const folder = makeFolder();
let server: AnsweringKserve<string>;
before(async () => {
  server = await startHttp();
});
after(() => server.stop());

/** Runs a command with a file of this text in the place of `FILE`. */
async function runWith(name: string, text: string, args: readonly string[]): Promise<Ended> {
  const path = writeIn(folder, name, text);
  return runDoor(args.map((arg) => arg.replace("FILE", path)));
}

const tensors = (text: string): Promise<Ended> =>
  runWith("in.json", text, [..."perf_analyzer -m m --request-count 1 --input-data FILE -u".split(" "), server.url]);

const OPENAI = "perf_analyzer -m m --service-kind openai --endpoint v1/chat/completions --input-data FILE".split(" ");

/** Nothing is sent: what the file holds has been read by then, or is not needed. */
const payloads = (text: string): Promise<Ended> =>
  runWith("in.json", text, [...OPENAI, "--session-concurrency", "9999", "--async", "-u", server.url]);

const prompts = (text: string, file: string, ...more: string[]): Promise<Ended> =>
  runWith(file.replace(/^\w+:/, ""), text, [
    ..."genai-perf profile -m m --endpoint-type chat --tokenizer none --artifact-dir".split(" "),
    join(folder, "artifacts"),
    "--input-file",
    file.startsWith("payload:") ? "payload:FILE" : "FILE",
    ...more,
    "-u",
    server.url,
  ]);

const TENSORS = {
  data: [{ IN: [1, 2] }, { IN: { content: [1, 2], shape: [2] } }, { IN: { b64: "AAAAAAAAAAA=" } }],
  validation_data: [{ OUT: [1, 2] }, { OUT: { content: [1, 2] } }, {}],
};
const PAYLOADS = {
  data: [
    {
      payload: [{ model: "m", messages: [{ role: "user", content: "x" }] }],
      session_id: ["a"],
      delay: [5],
      timestamp: [1],
    },
    { payload: [{ model: "m" }], session_id: "b" },
  ],
};
const PROMPT = {
  text: "x",
  image: ["data:image/png;base64,AAAA"],
  session_id: "a",
  delay: 1,
  model: "m",
  timestamp: 5,
};
const TRACE = { timestamp: 5, input_length: 5, output_length: 5, hash_ids: [1], session_id: "a", delay: 1 };

/** Each was an internal error or a hang once. */
const NAMED: readonly (readonly [name: string, run: () => Promise<Ended>, said: RegExp])[] = [
  [
    "a tensor nested 100,000 deep",
    () => tensors(`{"data":[{"IN":${DEEP_LIST}}]}`),
    /it is nested deeper than 500 levels/,
  ],
  [
    "an expected output nested 100,000 deep",
    () => tensors(`{"data":[{"IN":[1,2]}],"validation_data":[{"OUT":${DEEP_LIST}}]}`),
    /it is nested deeper than 500 levels/,
  ],
  [
    "a payload nested 100,000 deep",
    () => payloads(`{"data":[{"payload":[${DEEP_OBJECT}]}]}`),
    /nested deeper than 500 levels/,
  ],
  [
    "an interval as long as a file",
    () => runWith("times", DEEP_LIST, [..."perf_analyzer -m m --request-intervals FILE -u".split(" "), server.url]),
    /is not a time interval/,
  ],
  [
    "a prompt nested 2,000 deep",
    () => prompts(`{"text":${"[".repeat(2000)}${"]".repeat(2000)}}\n`, "in.jsonl"),
    /nested deeper than 500 levels/,
  ],
];

describe("fuzz: data of requests", () => {
  for (const [name, run, said] of NAMED) {
    test(name, LIMIT, async () => {
      const ended = await run();
      assertEndsWell(ended, [1, 99], name);
      assert.match(ended.err, said);
    });
  }

  const doors: readonly (readonly [
    name: string,
    document: unknown,
    run: (text: string) => Promise<Ended>,
    divisor: number,
  ])[] = [
    ["tensors", TENSORS, tensors, 6],
    ["payloads in sessions", PAYLOADS, payloads, 6],
    [
      "payloads with times",
      PAYLOADS.data[0],
      (text) => prompts(text, "payload:in.jsonl", "--fixed-schedule", "--dry-run"),
      15,
    ],
    ["prompts", PROMPT, (text) => prompts(text, "in.jsonl", "--dry-run"), 15],
    ["a trace", TRACE, (text) => prompts(`${text}\n${text}`, "in.jsonl", "--fixed-schedule", "--dry-run"), 15],
    ["comma-separated values", TRACE, (text) => prompts(text, "in.csv", "--fixed-schedule", "--dry-run"), 15],
  ];
  for (const [name, document, run, divisor] of doors) {
    test(`${name}: anything in the file`, LIMIT, async () => {
      await fc.assert(
        fc.asyncProperty(oddJson(document), async (text) => {
          assertEndsWell(await run(text), [...CODES.perfAnalyzer, ...CODES.genaiPerf], text);
        }),
        fewerRuns(divisor),
      );
    });
  }
});

const EXPORT = {
  experiments: [
    {
      experiment: { mode: "concurrency", value: 1 },
      requests: [
        {
          timestamp: 1000,
          request_inputs: { payload: "{}" },
          response_timestamps: [2000, 3000],
          response_outputs: [{ response: "{}" }],
        },
      ],
      window_boundaries: [1, 5],
    },
  ],
  version: "0",
  service_kind: "openai",
  endpoint: "v1/chat/completions",
};
const REPORT = {
  input_config: {
    model_names: ["m"],
    endpoint: { type: "chat", service_kind: "openai", streaming: true },
    perf_analyzer: { stimulus: { concurrency: 1 } },
    input: { file: null, num_dataset_entries: 5 },
    tokenizer: { name: "none" },
  },
};

describe("fuzz: exports of several hosts", () => {
  const merge = async (exported: string, report: string): Promise<Ended> => {
    const host = join(folder, "runs", "host");
    await mkdir(host, { recursive: true });
    await writeFile(join(host, "profile_export.json"), exported);
    await writeFile(join(host, "profile_export_genai_perf.json"), report);
    return runDoor([
      "genai-perf",
      "process-export-files",
      "-d",
      join(folder, "runs"),
      "--artifact-dir",
      join(folder, "merged"),
    ]);
  };

  test("an input_config whose endpoint is null", LIMIT, async () => {
    const ended = await merge(JSON.stringify(EXPORT), '{"input_config":{"model_names":5,"endpoint":null}}');
    assertEndsWell(ended, CODES.genaiPerf, "null");
  });

  for (const [name, document, run] of [
    ["profile export", EXPORT, (text: string) => merge(text, JSON.stringify(REPORT))],
    ["report", REPORT, (text: string) => merge(JSON.stringify(EXPORT), text)],
  ] as const)
    test(`anything in the ${name}`, LIMIT, async () => {
      await fc.assert(
        fc.asyncProperty(oddJson(document), async (text) => assertEndsWell(await run(text), CODES.genaiPerf, text)),
        fewerRuns(12),
      );
    });
});

describe("fuzz: genai-perf's YAML", () => {
  const config = (text: string): Promise<Ended> =>
    runWith("config.yaml", text, ["genai-perf", "config", "-f", "FILE", "--override-config", "--dry-run"]);

  const NAMED_YAML: readonly (readonly [name: string, text: string, said: RegExp])[] = [
    ["a merge key without a map", "model_names: {<<: 5}\n", /cannot be read: Merge sources must be maps/],
    ["a list that contains itself", "model_names: &a [*a]\n", /1:18: &a contains itself/],
    ["a sweep called __proto__", "model_names: m\nanalyze:\n  __proto__: 1\n", /__proto__ is not a valid analyze /],
  ];
  for (const [name, text, said] of NAMED_YAML) {
    test(name, LIMIT, async () => {
      const ended = await config(text);
      assertEndsWell(ended, [1], text);
      assert.match(ended.err, said);
    });
  }

  test("an alias has the value of its anchor", LIMIT, async () => {
    const { err } = await config(
      "model_names: m\ntokenizer:\n  name: &none none\noutput:\n  artifact_directory: *none\n",
    );
    assert.doesNotMatch(err, /artifact_directory/);
  });

  const KEYS =
    "model_names endpoint endpoint.type endpoint.headers perf_analyzer.stimulus perf_analyzer.stimulus.concurrency perf_analyzer.measurement input.extra input.goodput input.prefix_prompt.length input.synthetic_tokens.mean analyze analyze.concurrency output.artifact_directory __proto__ endpoint.__proto__ rampart".split(
      " ",
    );
  const VALUES =
    "~ 5 -1 1.5 x yes [] {} [1,2] [~] {a:1} {[1]:2} .nan .inf 0x1F 0o7 1_000 99999999999999999999999 *b &a !!binary !!set !foo '\\0' | - ? : __proto__ 2001-01-01 {<<:[1]} {a:1,a:2}".split(
      " ",
    );
  const line = fc.tuple(
    fc.constantFrom(...KEYS),
    fc.oneof(fc.constantFrom(...VALUES), fc.json({ maxDepth: 2 }), fc.string()),
  );
  const document = fc.array(line, { maxLength: 4 }).map((lines) =>
    lines
      .map(([key, value]) => {
        const parts = key.split(".");
        return parts
          .map((part, depth) => `${"  ".repeat(depth)}${part}:${depth === parts.length - 1 ? ` ${value}` : ""}\n`)
          .join("");
      })
      .join(""),
  );

  test("anything in the file", LIMIT, async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof({ arbitrary: document, weight: 8 }, fc.string()), async (text) =>
        assertEndsWell(await config(`model_names: m\ntokenizer:\n  name: none\n${text}`), CODES.genaiPerf, text),
      ),
      fewerRuns(6),
    );
  });
});
