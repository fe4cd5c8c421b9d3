import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { ClientPlan, Plan } from "../../../src/plan/plan.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import { NOT_JSON, PAGE_FOUND } from "../../../src/service/response-faults.ts";
import {
  INFER_RESPONSE,
  MODEL_CONFIG_RESPONSE,
  MODEL_METADATA,
  SERVER_METADATA,
  STREAM_INFER_RESPONSE,
} from "../../../src/service/triton/messages.ts";
import { makeOpenAiTarget, makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";
import { LIMIT } from "../../time-limit.ts";

/** Runs against servers that answer with success but not with a response, whatever is exported of it and whichever client sends. */

/** What is exported decides whether responses are kept or looked at while they are read. */
const OBSERVERS: readonly (readonly [name: string, observer: RunObserver])[] = [
  ["not exported", {}],
  ["exported", { onRecord: () => {} }],
];

async function run(plan: Plan, observer: RunObserver): Promise<RunResult> {
  return startPlan(plan, { openObserver: async () => observer, check: async () => {} }).result;
}

/** Counts and the only failure's kind and message. */
function outcomeOf({ sentCount, completedCount, failedCount, failures }: RunResult) {
  assert.equal(sentCount, completedCount + failedCount);
  return { completedCount, failedCount, kinds: failures.map(({ kind }) => kind), example: failures[0]?.example };
}

const REQUESTS = { mode: { kind: "requests", count: 12 } } as const;

const METADATA = {
  name: "m",
  versions: ["1"],
  platform: "x",
  inputs: [{ name: "IN", datatype: "INT32", shape: [4] }],
  outputs: [{ name: "OUT", datatype: "INT32", shape: [4] }],
};
const CONFIG = {
  name: "m",
  max_batch_size: 0,
  input: [{ name: "IN", data_type: "TYPE_INT32", dims: [4] }],
  output: [{ name: "OUT", data_type: "TYPE_INT32", dims: [4] }],
};
const GOOD_JSON = JSON.stringify({
  model_name: "m",
  outputs: [{ name: "OUT", datatype: "INT32", shape: [4], data: [1, 2, 3, 4] }],
});
const JSON_TYPE = { "Content-Type": "application/json" };

/** Measures a KServe server over HTTP whose every third inference is answered in a way of its own. */
async function runKserve(
  answer: (response: ServerResponse) => void,
  observer: RunObserver,
  client: ClientPlan["kind"] = "own",
  change: PlanChange = {},
): Promise<RunResult> {
  let infers = 0;
  using server = await startAnsweringServer((response, index) => {
    const { path } = server.received[index] as { path: string };
    if (path.endsWith("/infer")) {
      if (infers++ % 3 === 1) answer(response);
      else response.writeHead(200, JSON_TYPE).end(GOOD_JSON);
    } else if (path.endsWith("/config")) response.writeHead(200, JSON_TYPE).end(JSON.stringify(CONFIG));
    else if (path === "/v2") response.writeHead(200, JSON_TYPE).end('{"name":"x","version":"1","extensions":[]}');
    else response.writeHead(200, JSON_TYPE).end(JSON.stringify(METADATA));
  });
  const target = { url: server.url, model: "m" };
  return await run(makePlan({ target, measurement: REQUESTS, client: { kind: client }, ...change }), observer);
}

const HTTP_FAULTS: readonly (readonly [name: string, answer: (response: ServerResponse) => void, said: RegExp])[] = [
  [
    "an HTML page",
    (response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html><title>Welcome</title></html>"),
    new RegExp(`^${PAGE_FOUND}: Welcome$`),
  ],
  [
    "garbage",
    (response) => response.writeHead(200, JSON_TYPE).end("{this is not"),
    new RegExp(`^${NOT_JSON}: \\{this`),
  ],
  ["an empty body", (response) => response.writeHead(200, JSON_TYPE).end(), /^the response is empty$/],
  ["no content", (response) => response.writeHead(204).end(), /^the response is empty$/],
  [
    "gzip, which was not asked for",
    (response) => response.writeHead(200, { ...JSON_TYPE, "Content-Encoding": "gzip" }).end(gzipSync(GOOD_JSON)),
    /^the response is encoded \(Content-Encoding: gzip\)/,
  ],
  ["an error", (response) => response.writeHead(200, JSON_TYPE).end('{"error":"no memory"}'), /response: no memory$/],
  [
    "a length of its JSON part that is wrong",
    (response) => response.writeHead(200, { ...JSON_TYPE, "Inference-Header-Content-Length": "9999" }).end(GOOD_JSON),
    /^Inference-Header-Content-Length 9999 is longer/,
  ],
];

describe("an invalid HTTP response is a failed request", () => {
  for (const [name, answer, said] of HTTP_FAULTS)
    for (const [exported, observer] of OBSERVERS)
      test(`${name}, ${exported}`, LIMIT, async () => {
        const { example = "", ...counts } = outcomeOf(await runKserve(answer, observer));
        assert.deepEqual(counts, { completedCount: 8, failedCount: 4, kinds: ["unreadable"] });
        assert.match(example, said);
      });

  for (const [name, answer, said] of HTTP_FAULTS)
    test(`${name}, through the general client`, LIMIT, async () => {
      const { example = "", ...counts } = outcomeOf(await runKserve(answer, {}, "undici"));
      assert.deepEqual(counts, { completedCount: 8, failedCount: 4, kinds: ["unreadable"] });
      assert.match(example, said);
    });

  test("it ends a run that may have no failed request", LIMIT, async () => {
    const answer = HTTP_FAULTS[0]?.[1] ?? assert.fail();
    const { error } = await runKserve(answer, {}, "own", { failures: { maxRatio: 0 } });
    assert.deepEqual([error?.code, error?.message], ["failed-request", `${PAGE_FOUND}: Welcome`]);
  });

  test("one that comes in many pieces is a response all the same", LIMIT, async () => {
    const answer = async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, JSON_TYPE);
      for (const piece of GOOD_JSON.match(/.{1,9}/g) ?? []) {
        response.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const counts = outcomeOf(await runKserve((response) => void answer(response), {}));
    assert.deepEqual(counts, { completedCount: 12, failedCount: 0, kinds: [], example: undefined });
  });
});

const OUTPUT = { name: "OUT", datatype: "INT32", shape: [4] };
const GOOD_PROTO: ProtoObject = { model_name: "m", outputs: [OUTPUT], raw_output_contents: [new Uint8Array(16)] };
const FINAL: ProtoObject = { parameters: { triton_final_response: { bool_param: true } } };
const wrap = (response: ProtoObject): Uint8Array => encodeMessage(STREAM_INFER_RESPONSE, { infer_response: response });
const encoder = new TextEncoder();

/** Measures a gRPC server whose every third inference is answered with a message of its own. */
async function runGrpc(
  message: Uint8Array,
  isStreaming: boolean,
  observer: RunObserver,
  client: ClientPlan["kind"] = "own",
): Promise<RunResult> {
  let infers = 0;
  const good = isStreaming ? wrap(GOOD_PROTO) : encodeMessage(INFER_RESPONSE, GOOD_PROTO);
  const infer = () => [infers++ % 3 === 1 ? message : good];
  using server = await startGrpcAnsweringServer({
    ModelMetadata: () => [encodeMessage(MODEL_METADATA, METADATA)],
    ModelConfig: () => [encodeMessage(MODEL_CONFIG_RESPONSE, { config: CONFIG })],
    ServerMetadata: () => [encodeMessage(SERVER_METADATA, { name: "x" })],
    ModelInfer: infer,
    ModelStreamInfer: infer,
  });
  const target = { url: server.url, model: "m", protocol: "grpc", isStreaming } as const;
  return await run(makePlan({ target, measurement: REQUESTS, client: { kind: client } }), observer);
}

const GRPC_FAULTS: readonly (readonly [name: string, message: Uint8Array, said: RegExp])[] = [
  ["an empty message", new Uint8Array(0), /neither a model's name nor outputs$/],
  ["text", encoder.encode("<html><head></head></html>"), /^the message is not a ModelInferResponse: protobuf/],
  ["a response without data", encodeMessage(INFER_RESPONSE, { outputs: [OUTPUT] }), /^output 'OUT' has no data$/],
  [
    "data of another length, beyond what is read at once",
    encodeMessage(INFER_RESPONSE, { outputs: [OUTPUT], raw_output_contents: [new Uint8Array(300_000)] }),
    /^output 'OUT' has 300000 bytes of data, where INT32 of shape \[4\] has 16$/,
  ],
];

describe("an invalid gRPC message is a failed request", () => {
  for (const [name, message, said] of GRPC_FAULTS)
    for (const [exported, observer] of OBSERVERS)
      for (const client of ["own", "grpc-js"] as const)
        test(`${name}, ${exported}, client ${client}`, LIMIT, async () => {
          const { example = "", ...counts } = outcomeOf(await runGrpc(message, false, observer, client));
          assert.deepEqual(counts, { completedCount: 8, failedCount: 4, kinds: ["unreadable"] });
          assert.match(example, said);
        });

  const streamed: readonly (readonly [name: string, message: Uint8Array, said: RegExp])[] = [
    ["an empty message", new Uint8Array(0), /has neither a response nor an error$/],
    ["a response without data", wrap({ outputs: [OUTPUT], ...FINAL }), /^output 'OUT' has no data$/],
    [
      "a response that is not wrapped",
      encodeMessage(INFER_RESPONSE, GOOD_PROTO),
      /streams bare ModelInferResponse messages/,
    ],
  ];
  for (const [name, message, said] of streamed)
    for (const [exported, observer] of OBSERVERS)
      test(`on a stream: ${name}, ${exported}`, LIMIT, async () => {
        const { example = "", ...counts } = outcomeOf(await runGrpc(message, true, observer));
        assert.deepEqual(counts, { completedCount: 8, failedCount: 4, kinds: ["unreadable"] });
        assert.match(example, said);
      });
});

/** Measures a server of chat completions whose every third response is the test's. */
async function runChat(answer: (response: ServerResponse) => void, observer: RunObserver): Promise<RunResult> {
  using server = await startAnsweringServer((response, index) => {
    if (index % 3 === 1) answer(response);
    else response.writeHead(200, EVENTS).end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
  });
  const file = new URL("../payloads.fixture.json", import.meta.url).pathname;
  const target = makeOpenAiTarget(server.url);
  return await run({ ...makePlan({ measurement: REQUESTS }), target, inputs: { kind: "payloads", file } }, observer);
}

const EVENTS = { "Content-Type": "text/event-stream" };

const CHAT_FAULTS: readonly (readonly [name: string, answer: (response: ServerResponse) => void, said: RegExp])[] = [
  ["an HTML page", HTTP_FAULTS[0]?.[1] ?? assert.fail(), new RegExp(`^${PAGE_FOUND}: Welcome$`)],
  [
    "an HTML page that is called a stream",
    (response) => response.writeHead(200, EVENTS).end("<html></html>"),
    new RegExp(`^${PAGE_FOUND}`),
  ],
  ["a stream without events", (response) => response.writeHead(200, EVENTS).end(), /^the response is empty$/],
  [
    "an event that is no JSON",
    (response) => response.writeHead(200, EVENTS).end("data: {no\n\n"),
    /not JSON: data: \{no$/,
  ],
  [
    "JSON of something else",
    (response) => response.writeHead(200, JSON_TYPE).end('{"detail":"x"}'),
    /no list of choices/,
  ],
  ["no content", (response) => response.writeHead(204).end(), /^the response is empty$/],
  [
    "a compressed stream",
    (response) => response.writeHead(200, { ...EVENTS, "Content-Encoding": "br" }).end("x"),
    /^the response is encoded \(Content-Encoding: br\)/,
  ],
];

describe("an invalid response to a payload is a failed request", () => {
  for (const [name, answer, said] of CHAT_FAULTS)
    for (const [exported, observer] of OBSERVERS)
      test(`${name}, ${exported}`, LIMIT, async () => {
        const { example = "", ...counts } = outcomeOf(await runChat(answer, observer));
        assert.deepEqual(counts, { completedCount: 8, failedCount: 4, kinds: ["unreadable"] });
        assert.match(example, said);
      });
});
