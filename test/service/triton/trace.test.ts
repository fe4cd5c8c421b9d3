import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeMessage } from "../../../src/service/protobuf/message.ts";
import { httpTrace } from "../../../src/service/triton/front.ts";
import { grpcTrace } from "../../../src/service/triton/grpc-front-end.ts";
import { TRACE_SETTING_RESPONSE } from "../../../src/service/triton/messages.ts";
import { utf8 } from "../../transport/bytes.ts";

/** Triton's trace extension: settings as each protocol writes them. */

const VALUES = { log_frequency: ["1"], trace_level: ["TIMESTAMPS", "TENSORS"], trace_rate: ["5"] };

test("over HTTP levels are a list and the rest is text, both ways", () => {
  const { request } = httpTrace.write(VALUES);
  assert.deepEqual([request.method, request.path], ["POST", "/v2/trace/setting"]);
  assert.equal(
    new TextDecoder().decode(request.payload),
    '{"log_frequency":"1","trace_level":["TIMESTAMPS","TENSORS"],"trace_rate":"5"}',
  );
  const query = httpTrace.read();
  assert.deepEqual([query.request.method, query.request.payload.length], ["GET", 0]);
  assert.deepEqual(httpTrace.parse(query.read(request.payload)), VALUES);
  assert.deepEqual(httpTrace.parse({ trace_count: -1 }), { trace_count: ["-1"] });
  for (const answer of [null, [], "OFF"]) assert.throws(() => httpTrace.parse(answer), /not an object/);
});

test("over gRPC every setting is a list, and a question without settings changes none", () => {
  const { request } = grpcTrace.write({ trace_rate: ["5"] });
  assert.equal(request.path, "/inference.GRPCInferenceService/TraceSetting");
  // settings: { key: "trace_rate", value: { value: "5" } }
  assert.deepEqual([...request.payload], [0x0a, 0x11, 0x0a, 0x0a, ...utf8("trace_rate"), 0x12, 0x03, 0x0a, 0x01, 0x35]);
  assert.equal(grpcTrace.read().request.payload.length, 0);
  const settings = {
    log_frequency: { value: ["1"] },
    trace_level: { value: ["TIMESTAMPS", "TENSORS"] },
    trace_rate: { value: ["5"] },
    trace_file: {},
  };
  const answer = encodeMessage(TRACE_SETTING_RESPONSE, { settings });
  const query = grpcTrace.write(VALUES);
  assert.deepEqual(grpcTrace.parse(query.read(answer)), { ...VALUES, trace_file: [] });
  assert.deepEqual(grpcTrace.parse(query.read(new Uint8Array(0))), {});
});
