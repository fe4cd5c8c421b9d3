import assert from "node:assert/strict";
import { test } from "node:test";
import { runsOf } from "../../../src/report/schema/report-schema.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { decodeMessage, encodeMessage } from "../../../src/service/protobuf/message.ts";
import {
  INFER_REQUEST,
  MODEL_CONFIG_RESPONSE,
  MODEL_METADATA,
  STREAM_INFER_RESPONSE,
} from "../../../src/service/triton/messages.ts";
import { RECORDS, writeReports } from "../../report/html/make-report.ts";
import { spreadIn, valueIn } from "../../report/json-metrics.ts";
import { startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";

/** The times of a decoupled model beside a server that notes when it sends each response. A busy machine makes them longer, not shorter. */

const TENSOR = { datatype: "FP32", shape: [4] };
const METADATA = {
  name: "m",
  inputs: [{ name: "IN", ...TENSOR }],
  outputs: [{ name: "OUT", ...TENSOR }],
};
const CONFIG = {
  name: "m",
  input: [{ name: "IN", data_type: "TYPE_FP32", dims: [4] }],
  output: [{ name: "OUT", data_type: "TYPE_FP32", dims: [4] }],
  model_transaction_policy: { decoupled: true },
};
const OUTPUT = { outputs: [{ name: "OUT", ...TENSOR }], raw_output_contents: [new Uint8Array(16)] };

/** When responses come after their request, in milliseconds; the last one has content, or is an empty one after that time. */
interface Given {
  readonly atMs: readonly number[];
  readonly emptyMs?: number;
}

const GIVEN: readonly Given[] = [{ atMs: [], emptyMs: 300 }, { atMs: [30, 60, 90], emptyMs: 300 }, { atMs: [30, 60] }];
const REQUESTS = 12;

test("a decoupled model: responses, first ones, and the times between them and until the last one with content", async () => {
  /** Of each request, the times of its responses with content after it came. */
  const log: number[][] = [];
  async function* answer(message: Uint8Array): AsyncGenerator<Uint8Array> {
    const startMs = performance.now();
    const { id } = decodeMessage(INFER_REQUEST, message) as { id: string };
    const sent: number[] = [];
    const { atMs, emptyMs } = GIVEN[log.push(sent) % GIVEN.length] as Given;
    const until = (ms: number) =>
      new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - (performance.now() - startMs))));
    const respond = (isFinal: boolean, content: object): Uint8Array => {
      const parameters = { triton_final_response: { bool_param: isFinal } };
      return encodeMessage(STREAM_INFER_RESPONSE, { infer_response: { model_name: "m", id, parameters, ...content } });
    };
    for (const [at, ms] of atMs.entries()) {
      await until(ms);
      sent.push(performance.now() - startMs);
      yield respond(emptyMs === undefined && at === atMs.length - 1, OUTPUT);
    }
    if (emptyMs === undefined) return;
    await until(emptyMs);
    yield respond(true, {});
  }
  using server = await startGrpcAnsweringServer({
    ModelMetadata: () => [encodeMessage(MODEL_METADATA, METADATA)],
    ModelConfig: () => [encodeMessage(MODEL_CONFIG_RESPONSE, { config: CONFIG })],
    ModelStreamInfer: answer,
  });
  using written = await writeReports(
    {
      name: "decoupled",
      target: triton(server.url, { protocol: "grpc", model: "m", streaming: true }),
      load: hold(1, { requests: REQUESTS }),
    },
    RECORDS,
  );
  const [level] = runsOf(written.json)[0]?.levels ?? [];
  assert.ok(level !== undefined, written.console);
  assert.deepEqual([level.completed, level.failed, log.length], [REQUESTS, 0, REQUESTS]);
  const responses = log.flat().length;
  assert.equal(level.responses, responses);
  assert.ok(Math.abs(valueIn(level, "responsesPerSec") / (responses / level.durationSec) - 1) < 1e-6);
  const answered = log.filter((sent) => sent.length > 0);
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  // A standstill of a busy machine moves the mean of a dozen, not their middle.
  const middleOf = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2)] ?? Number.NaN;
  const middleIn = (name: string): number => (spreadIn(level, name)?.p50 ?? Number.NaN) / 1000;
  const firstMs = (spreadIn(level, "firstResponseUs")?.mean ?? 0) / 1000;
  assert.equal(spreadIn(level, "firstResponseUs")?.count, answered.length);
  // The server waits with the empty response for longer than a busy machine does with the others.
  const firsts = answered.map(([first = 0]) => first);
  const trueFirstMs = meanOf(firsts);
  assert.ok(firstMs >= trueFirstMs - 1, `first ${firstMs}, not ${trueFirstMs} ms`);
  assert.ok(middleIn("firstResponseUs") < middleOf(firsts) + 60, `${middleIn("firstResponseUs")}, not ${firsts} ms`);
  const gaps = answered.flatMap((sent) => sent.slice(1).map((ms, at) => ms - (sent[at] ?? 0)));
  const betweenMs = (spreadIn(level, "betweenResponsesUs")?.mean ?? 0) / 1000;
  const latencyMs = (spreadIn(level, "latencyUs")?.mean ?? 0) / 1000;
  const lasts = log.map((sent) => sent.at(-1) ?? 300);
  const trueMs = meanOf(lasts);
  assert.ok(latencyMs >= trueMs - 1, `latency ${latencyMs}, not ${trueMs} ms`);
  assert.ok(middleIn("latencyUs") < middleOf(lasts) + 60, `${middleIn("latencyUs")}, not ${lasts} ms`);
  const lines = written.read("records").trimEnd().split("\n");
  const recorded = lines.map((line) => JSON.parse(line).metrics as Readonly<Record<string, { value: number }>>);
  const recordedMs = meanOf(recorded.map((metrics) => metrics["request_latency"]?.value ?? 0));
  assert.ok(Math.abs(recordedMs - latencyMs) < 0.01, `${recordedMs} ms in records, ${latencyMs} ms in the report`);
  const withFirst = recorded.filter((metrics) => "time_to_first_response" in metrics);
  assert.equal(withFirst.length, answered.length);
  // The first and the last responses were right, and what lies between them is divided by the number of gaps that the server made.
  const spans = withFirst.map(
    (one) => (one["request_latency"]?.value ?? 0) - (one["time_to_first_response"]?.value ?? 0),
  );
  const expectedMs = (meanOf(spans) * spans.length) / gaps.length;
  assert.ok(Math.abs(betweenMs - expectedMs) < 0.01, `between ${betweenMs}, not ${expectedMs} ms`);
});
