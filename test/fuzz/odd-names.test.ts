import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { makeFolder } from "../make-folder.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { type AnsweringKserve, goodAnswers, startHttp } from "./answering-kserve.ts";
import { assertEndsWell, type Ended, runDoor } from "./command.ts";

/** Names that every object of the language has: servers, files and command lines may use them as theirs. */

const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty"];

const folder = makeFolder();
let server: AnsweringKserve<string>;
let metricsUrl = "";
let llmUrl = "";
let grpcUrl = "";
let stopOthers = async (): Promise<void> => {};
before(async () => {
  server = await startHttp();
  const page = NAMES.map((name) => `# TYPE ${name} gauge\n${name}{${name}="1",gpu_uuid="${name}"} 5\n`).join("");
  const gpu = NAMES.map((name) => `nv_gpu_utilization{gpu_uuid="${name}"} 0.5\n`).join("");
  const metrics = await startAnsweringServer((response) => response.end(`${page}${gpu}`));
  metricsUrl = `${metrics.url}/metrics`;
  const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
  llmUrl = `127.0.0.1:${mock.httpPort}`;
  grpcUrl = `127.0.0.1:${mock.grpcPort}`;
  stopOthers = async () => {
    metrics.close();
    await mock.stop();
  };
});
after(async () => {
  server.stop();
  await stopOthers();
});

const PA = "perf_analyzer -m m --request-count 1 -u URL";
const GENAI =
  "genai-perf profile -m simple --endpoint-type chat --tokenizer TINY --request-count 2 --artifact-dir DIR/a -u LLM";
const SCENARIO = "name: x\ntarget: embedded\nload: { hold: { concurrency: 1, requests: 3 } }\n";

/** Where a name may stand: a command line, and the text of the file that it names. */
const PLACES: readonly (readonly [name: string, line: string, file?: string, text?: string])[] = [
  ["a field of a scenario in YAML", "run DIR/x.yaml", "x.yaml", "NAME: 1\n"],
  ["one field more", "run DIR/x.yaml", "x.yaml", `${SCENARIO}NAME: 1\n`],
  ["a field of a scenario in JSON", "run DIR/x.json", "x.json", '{"NAME": {"a": 1}}'],
  ["a target", "run DIR/x.yaml", "x.yaml", "name: x\ntarget: NAME\nload: { hold: 1 }\n"],
  ["a builder", "run DIR/x.yaml", "x.yaml", "name: x\ntarget: { NAME: {} }\nload: { NAME: 1 }\ninputs: { NAME: 1 }\n"],
  ["an assertion", "run DIR/x.yaml", "x.yaml", `${SCENARIO}assert: [NAME < 5, errorRate where NAME=1 == 0]\n`],
  ["a parameter", "run DIR/x.yaml --set NAME=1", "x.yaml", `${SCENARIO}params: { NAME: { integer: 3 } }\n`],
  ["an unknown parameter", "run DIR/x.yaml --set NAME=1", "x.yaml", SCENARIO],
  ["a tag", "run DIR/x.yaml", "x.yaml", `${SCENARIO}tags: { NAME: a }\n`],
  ["a key of a configuration", "genai-perf config -f DIR/c.yaml", "c.yaml", "model_names: m\nNAME: 1\n"],
  ["a key within it", "genai-perf config -f DIR/c.yaml", "c.yaml", "model_names: m\nendpoint: { NAME: 1 }\n"],
  ["an anchor", "genai-perf config -f DIR/c.yaml", "c.yaml", "model_names: &NAME m\nendpoint: { url: *NAME }\n"],
  ["a header", "http URL --requests 1 -H NAME:1"],
  ["a field of a form", "http URL --requests 1 --form NAME=1"],
  ["a tensor of the data", `${PA} --input-data DIR/d.json`, "d.json", '{"data": [{"NAME": [1], "IN": [1, 2]}]}'],
  ["a field of the data", `${PA} --input-data DIR/d.json`, "d.json", '{"NAME": [1], "data": [{"IN": [1, 2]}]}'],
  ["a shape", `${PA} --shape NAME:1`],
  [
    "a parameter of requests",
    "perf_analyzer -m simple -i grpc --request-count 1 -u GRPC --request-parameter NAME:1:int",
  ],
  ["a field of prompts", `${GENAI} --input-file DIR/p.jsonl`, "p.jsonl", '{"text": "x", "NAME": 1}\n'],
  [
    "a payload's field",
    `${GENAI} --input-file payload:DIR/p.jsonl`,
    "p.jsonl",
    '{"timestamp": 1, "input_length": 2, "NAME": 1}\n',
  ],
  ["an extra input", `${GENAI} --extra-inputs NAME:1`],
  ["a report", "compare DIR/r.json DIR/r.json", "r.json", '{"NAME": {"unit": "NAME", "avg": 1}}'],
  [
    "a unit of a report",
    "compare DIR/r.json DIR/r.json",
    "r.json",
    '{"request_latency": {"unit": "NAME", "avg": 1}, "request_throughput": {"avg": 1}, "NAME": {"unit": "ms", "avg": 1}, "input_config": {"NAME": 1}}',
  ],
  ["a metric of a server", `${GENAI} --server-metrics-url METRICS`],
  ["a GPU", `${PA} --collect-metrics --metrics-url METRICS --verbose-csv -f DIR/x.csv`],
  ["a command", "NAME"],
  ["a guide", "help NAME"],
  ["an option", "run --NAME"],
];

/** Runs a command line; the words in capitals are the folder, the servers and the name. */
function run(line: string, name: string): Promise<Ended> {
  const fill = (word: string): string =>
    word
      .replace("DIR", folder)
      .replace("TINY", TINY)
      .replace("URL", server.url)
      .replace("LLM", llmUrl)
      .replace("GRPC", grpcUrl)
      .replace("METRICS", metricsUrl)
      .replace("NAME", name);
  return runDoor(line.split(" ").map(fill));
}

/** Places where any name is allowed: the run reaches its end. */
const MEASURED: ReadonlySet<string> = new Set([
  ...["a tag", "a header", "a field of a form", "a shape", "a parameter of requests", "a field of prompts"],
  ...["a payload's field", "an extra input", "a unit of a report", "a metric of a server", "a GPU"],
]);

describe("names of the language's own", () => {
  for (const [place, line, file, text] of PLACES)
    test(place, LIMIT, async () => {
      for (const name of NAMES) {
        if (file !== undefined) await writeFile(join(folder, file), (text ?? "").replaceAll("NAME", name));
        const ended = await run(line, name);
        assertEndsWell(ended, MEASURED.has(place) ? [0] : [0, 1, 2, 64, 65, 66, 69, 99], `${line} with ${name}`);
      }
    });

  test("a goodput by a time that no response has", LIMIT, async () => {
    for (const name of NAMES) {
      const { code, err } = await run(`${GENAI} --streaming --goodput NAME:1`, name);
      assert.equal(code, 0, err);
      assert.ok(err.includes(`goodput: ${name} is not a metric`), err);
    }
  });

  test("tensors and settings of a server", LIMIT, async () => {
    for (const name of NAMES) {
      const answers = JSON.parse(JSON.stringify(goodAnswers()).replaceAll(/"(?:IN|OUT|m)"/g, JSON.stringify(name)));
      server.answers = Object.fromEntries(
        Object.entries(answers).map(([door, value]) => [door, JSON.stringify(value)]),
      );
      const line = `perf_analyzer -m ${name} --request-count 1 -u ${server.url} --profile-export-file ${folder}/e.json`;
      assertEndsWell(await runDoor(line.split(" ")), [0, 1, 2, 99], line);
    }
  });
});
