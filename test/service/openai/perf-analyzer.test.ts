import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { NOT_JSON, SENT_ERROR } from "../../../src/service/response-faults.ts";
import { QUICK_WINDOWS, readProfile, runCommand } from "../../cli/perf-analyzer/run-command.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { listen } from "../../servers/listen.ts";

/** `--service-kind openai`: payloads to a server of OpenAI's API, with perf_analyzer's text and files. */

const mock = await startMock(DEFAULT_MOCK, LOOPBACK);

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly atMs: number;
}

const EVENTS = "text/event-stream";

/** Wrong responses by path: status, type and body; and what a run says of them. */
const WRONG_ANSWERS: readonly (readonly [path: string, status: number, type: string, body: string, said: string])[] = [
  ["status", 503, "text/plain", "busy", "OpenAI response returns HTTP code 503: busy"],
  ["empty-status", 500, "text/plain", "", "OpenAI response returns HTTP code 500: "],
  ["event", 200, EVENTS, 'data: {"error":{"message":"no memory"}}\n\ndata: [DONE]\n\n', `${SENT_ERROR}: no memory`],
  ["named-event", 200, EVENTS, 'event: error\ndata: {"code":7}\n\n', `${SENT_ERROR}: event: error data: {"code":7}`],
  ["error", 200, "application/json", '{"error":{"message":"boom"}}', `${SENT_ERROR}: boom`],
  ["no-json", 200, "application/json", '{"choices": [', `${NOT_JSON}: {"choices": [`],
];

/** Keeps what it is sent; `v1/fails` answers with an error, `v1/talks` with the next of a conversation. */
const received: Received[] = [];
const recorder = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const path = request.url ?? "";
    received.push({ path, headers: request.headers, body: Buffer.concat(pieces).toString(), atMs: performance.now() });
    const content = `response ${received.length}`;
    const talk = JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });
    const wrong = WRONG_ANSWERS.find(([end]) => path.endsWith(`/wrong/${end}`));
    if (wrong !== undefined) response.writeHead(wrong[1], { "Content-Type": wrong[2] }).end(wrong[3]);
    else if (path.endsWith("v1/fails"))
      response.writeHead(500).end('{"error":{"message":"boom","type":"server_error"}}');
    else
      response
        .writeHead(200, { "Content-Type": "application/json" })
        .end(path.endsWith("v1/talks") ? talk : '{"choices":[]}');
  });
});
const recorderUrl = `127.0.0.1:${await listen(recorder)}`;
after(async () => {
  recorder.closeAllConnections();
  recorder.close();
  await mock.stop();
});

const chat = (content: string, rest: object = {}): object => ({
  payload: [{ model: "m", messages: [{ role: "user", content }], ...rest }],
});

async function withInputs(entries: readonly object[], use: (file: string, folder: string) => Promise<void>) {
  const folder = makeFolder();
  const file = writeIn(folder, "inputs.json", JSON.stringify({ data: entries }));
  await use(file, folder);
}

const openAi = (url: string, file: string, endpoint = "v1/chat/completions"): string[] => [
  ...["-m", "m", "-u", url, "--service-kind", "openai", "--endpoint", endpoint, "--input-data", file],
];

test("--service-kind openai posts the payloads of --input-data to --endpoint, one after the other", async () => {
  await withInputs([chat("a"), chat("b", { max_tokens: 4 })], async (file) => {
    received.length = 0;
    const flags = ["--async", "--request-count", "3", "-H", "Authorization: Bearer tok"];
    const kind = ["--service-kind", "openai", "--endpoint", "v1/chat/completions"];
    const { code, err } = await runCommand(["-m", "m", "-u", recorderUrl, "--input-data", file, ...kind, ...flags]);
    assert.equal(code, 0, err);
    assert.deepEqual(
      received.map(({ path, body }) => [path, body]),
      ["a", "b", "a"].map((content) => [
        "/v1/chat/completions",
        JSON.stringify((chat(content, content === "b" ? { max_tokens: 4 } : {}) as { payload: object[] }).payload[0]),
      ]),
    );
    assert.equal(received[0]?.headers["authorization"], "Bearer tok");
    assert.equal(received[0]?.headers["content-type"], "application/json");
    assert.notEqual(received[0]?.headers["accept"], "text/event-stream");
  });
});

test("several files of payloads are sent as if they were one", async () => {
  await withInputs([chat("a")], async (file, folder) => {
    const more = writeIn(folder, "more.jsonl", '{"n":1}\n{"n":2}\n');
    received.length = 0;
    const flags = ["--input-data", more, "--async", "--request-count", "4"];
    const { code, out, err } = await runCommand([...openAi(recorderUrl, file), ...flags]);
    assert.equal(code, 0, err);
    assert.match(out, /1 stream\/streams with 3 step\/steps/);
    assert.deepEqual(
      received.map(({ body }) => body.slice(0, 7)),
      ['{"model', '{"n":1}', '{"n":2}', '{"model'],
    );
  });
});

test("--streaming asks for events", async () => {
  await withInputs([chat("a", { stream: true })], async (file) => {
    received.length = 0;
    const { code, err } = await runCommand([...openAi(recorderUrl, file), "--streaming", "--request-count", "1"]);
    assert.equal(code, 0, err);
    assert.match(String(received[0]?.headers["accept"]), /text\/event-stream/);
  });
});

describe("a run against an OpenAI server", () => {
  test("prints the same as perf_analyzer", async () => {
    await withInputs([chat("hi")], async (file, folder) => {
      const csv = join(folder, "out.csv");
      const flags = ["--async", "--concurrency-range", "2", "-v", "-f", csv, "--verbose-csv", ...QUICK_WINDOWS];
      const { code, out, err } = await runCommand([...openAi(`127.0.0.1:${mock.httpPort}`, file), ...flags]);
      assert.equal(code, 0, err);
      const lines = out.replaceAll(/(?<![\w.[])\d+(\.\d+)?/g, "N").split("\n");
      assert.deepEqual(
        lines.filter((line) => !line.startsWith("  Pass")),
        [
          " Successfully read data for N stream/streams with N step/steps.",
          "*** Measurement Settings ***",
          "  Service Kind: OPENAI",
          '  Using "time_windows" mode for stabilization',
          "  Stabilizing using average throughput",
          "  Measurement window: N msec",
          "  Using asynchronous calls for inference",
          "",
          "Request concurrency: N",
          "  Client: ",
          "    Request count: N",
          "    Throughput: N infer/sec",
          "    Avg client overhead: N%",
          "    Avg latency: N usec (standard deviation N usec)",
          "    p50 latency: N usec",
          "    p90 latency: N usec",
          "    p95 latency: N usec",
          "    p99 latency: N usec",
          "    Avg HTTP time: N usec (send N usec + response wait N usec + receive N usec)",
          "Inferences/Second vs. Client Average Batch Latency",
          "Concurrency: N, throughput: N infer/sec, latency N usec",
          "",
        ],
      );
      assert.equal(
        (await readFile(csv, "utf8")).split("\n")[0],
        "Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency,Avg latency,request/response,response wait",
      );
    });
  });

  test("exports each event of a stream with its time, and the payload as text", async () => {
    await withInputs([chat("hi", { stream: true, max_tokens: 3 })], async (file, folder) => {
      const path = join(folder, "prof.json");
      const flags = ["--async", "--request-rate-range", "200", "--request-count", "200", "--profile-export-file", path];
      const { code, out, err } = await runCommand([...openAi(`127.0.0.1:${mock.httpPort}`, file), ...flags]);
      assert.equal(code, 0, err);
      assert.match(out, /^Request Rate: 200 inference requests per second$/m);
      const { experiments, version, service_kind, endpoint } = readProfile(path);
      assert.deepEqual([version, service_kind, endpoint], ["0.0.0", "openai", "v1/chat/completions"]);
      assert.deepEqual(experiments[0]?.experiment, { mode: "request_rate", value: 200 });
      const { requests = [] } = experiments[0] ?? {};
      assert.equal(requests.length, 200);
      const [request] = requests;
      const payload = chat("hi", { stream: true, max_tokens: 3 }) as { payload: object[] };
      assert.deepEqual(request?.request_inputs, { payload: JSON.stringify(payload.payload[0]) });
      // Role, three tokens, finish, [DONE].
      assert.equal(request?.response_timestamps.length, 6);
      const texts = request?.response_outputs.map(({ response }) => String(response));
      assert.match(texts?.[1] ?? "", /^data: \{.*"content":" the".*\}\n\n$/);
      assert.equal(texts?.[5], "data: [DONE]\n\n");
    });
  });

  test("ends with the server's words when a request fails", async () => {
    await withInputs([chat("hi")], async (file) => {
      const flags = ["--async", "--request-count", "2"];
      const { code, err } = await runCommand([...openAi(recorderUrl, file, "v1/fails"), ...flags]);
      assert.equal(code, 99);
      assert.ok(
        err.startsWith(
          'Failed to retrieve results from inference request.\nThread [0] had error: OpenAI response returns HTTP code 500: {"error":{"message":"boom","type":"server_error"}}\n',
        ),
        err,
      );
    });
  });

  for (const [path, status, , , said] of WRONG_ANSWERS)
    test(`words the first failure: status ${status}, ${path}`, async () => {
      await withInputs([chat("hi")], async (file) => {
        const flags = ["--async", "--request-count", "2"];
        const { code, err } = await runCommand([...openAi(recorderUrl, file, `wrong/${path}`), ...flags]);
        assert.equal(code, 99);
        const expected = `Failed to retrieve results from inference request.\nThread [0] had error: ${said}\n`;
        assert.equal(err.slice(0, expected.length), expected);
      });
    });

  test("sends each payload once at its time with --fixed-schedule", async () => {
    // So far apart that a machine which stops the client for a second keeps their order.
    const timed = ["b", "a"].map((content, index) => ({ ...chat(content), timestamp: [1500 - 1500 * index] }));
    await withInputs(timed, async (file) => {
      received.length = 0;
      const { code, err } = await runCommand([...openAi(recorderUrl, file), "--async", "--fixed-schedule"]);
      assert.equal(code, 0, err);
      assert.deepEqual(
        received.map(({ body }) => (JSON.parse(body) as { messages: { content: string }[] }).messages[0]?.content),
        ["a", "b"],
      );
    });
  });
});

/** Two conversations: of three turns with pauses of 60 ms, and of one. */
const TURNS = [
  { ...chat("a1"), session_id: ["a"], delay: [60] },
  { ...chat("b1"), session_id: ["b"] },
  { ...chat("a2"), session_id: ["a"], delay: [60] },
  { ...chat("a3"), session_id: ["a"] },
];

test("--session-concurrency holds each conversation once, this many at a time, with its history and its delays", async () => {
  await withInputs(TURNS, async (file, folder) => {
    received.length = 0;
    const path = join(folder, "prof.json");
    // What genai-perf adds to it, to no effect.
    const more = ["--request-count", "10", "--warmup-request-count", "3", "--stability-percentage", "999"];
    const flags = ["--async", "--session-concurrency", "1", "--profile-export-file", path, ...more];
    const { code, out, err } = await runCommand([...openAi(recorderUrl, file, "v1/talks"), ...flags]);
    assert.equal(code, 0, err);
    const said = received.map(({ body }) =>
      (JSON.parse(body) as { messages: { content: string }[] }).messages.map(({ content }) => content),
    );
    assert.deepEqual(said, [
      ["a1"],
      ["a1", "response 1", "a2"],
      ["a1", "response 1", "a2", "response 2", "a3"],
      ["b1"],
    ]);
    const gapsMs = received.slice(1, 3).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? 0));
    for (const gapMs of gapsMs) assert.ok(gapMs >= 55, `the next turn came after ${gapMs} ms`);
    assert.match(err, /^rampart: --request-count .*--session-concurrency/m);
    assert.match(err, /--warmup-request-count has no effect with --session-concurrency/);
    assert.match(err, /4 requests with 4 responses, .*; the requests are in /);
    assert.match(out, /1 stream\/streams with 4 step\/steps\.\n[\s\S]*Using asynchronous calls for inference\n\n$/);
    const [experiment] = readProfile(path).experiments;
    assert.deepEqual(experiment?.experiment, { mode: "request_rate", value: 0 });
    assert.equal(experiment?.requests.length, 4);
    // Both at once: b's turn is over before a's second.
    received.length = 0;
    const both = ["--async", "--session-concurrency", "2"];
    assert.equal((await runCommand([...openAi(recorderUrl, file, "v1/talks"), ...both])).code, 0);
    const last = received.map(({ body }) => /([ab]\d)"\}\]/.exec(body)?.[1]);
    assert.deepEqual(
      [last.slice(0, 2).sort(), last.slice(2)],
      [
        ["a1", "b1"],
        ["a2", "a3"],
      ],
    );
  });
});

test("--session-concurrency above the number of sessions is rejected in perf_analyzer's words", async () => {
  await withInputs(TURNS, async (file) => {
    received.length = 0;
    const flags = ["--async", "--session-concurrency", "9"];
    const { code, err } = await runCommand([...openAi(recorderUrl, file, "v1/talks"), ...flags]);
    assert.deepEqual([code, received.length], [99, 0]);
    const words =
      "The input data file contains 2 unique session IDs, which is fewer than the required session concurrency level of 9.";
    assert.ok(err.includes(words), err);
  });
});

const FILE = fileURLToPath(import.meta.url);
const KIND = ["-m", "m", "--service-kind", "openai"];
const GIVEN = [...KIND, "--endpoint", "v1/completions", "--input-data", FILE, "--async"];
for (const [name, args, says] of [
  ["no endpoint", [...KIND, "--async", "--input-data", FILE], 'For example, "v1/chat/completions".'],
  [
    "a directory",
    GIVEN.map((word) => (word === FILE ? dirname(FILE) : word)),
    "takes files of payloads, not directories",
  ],
  ["gRPC", [...GIVEN, "-i", "grpc"], "perf_analyzer does not support gRPC protocol with OpenAI endpoints"],
  [
    "synchronous calls",
    GIVEN.filter((word) => word !== "--async"),
    "Only async mode is currently supported for OpenAI service-kind",
  ],
  ["a batch", [...GIVEN, "-b", "2"], "Batching is not currently supported with OpenAI service-kind"],
  [
    "shared memory",
    [...GIVEN, "--shared-memory", "system"],
    "client backend of kind OPENAI does not support CreateSharedMemoryRegion()",
  ],
  [
    "a number of sessions with a Triton",
    ["-m", "m", "--session-concurrency", "2"],
    "Session concurrency mode is only supported with OpenAI service kind.",
  ],
  [
    "no session at all",
    [...GIVEN, "--session-concurrency", "0"],
    "Failed to parse --session-concurrency. Session concurrency must be > 0.",
  ],
  [
    "sessions beside another load",
    [...GIVEN, "--session-concurrency", "2", "--concurrency-range", "4"],
    "Cannot use both SessionConcurrency and Concurrency inference load modes.",
  ],
  ["an unknown kind", ["-m", "m", "--service-kind", "foo"], "Unsupported type provided: 'foo'"],
] as const) {
  test(`${name} is refused before anything is sent`, async () => {
    const { code, out, err } = await runCommand([...args]);
    assert.deepEqual([code, out], [99, ""]);
    assert.ok(err.includes(says), err);
  });
}
