import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf, formatLine, formatMetadata, wasCancelled } from "../../../src/report/records/record-line.ts";

/** The line of a request in a file of records. */

const SEND_EPOCH_NS = 1_767_225_600_123_456_789n;

test("time stamps keep all of their digits, and fields without a value are left out", () => {
  const common = { server: undefined, sendEpochNs: SEND_EPOCH_NS, endEpochNs: SEND_EPOCH_NS + 5n };
  assert.equal(
    formatMetadata({ ...common, model: undefined, conversation: undefined, ackEpochNs: undefined, rest: { a: 1 } }),
    '{"request_start_time":"2026-01-01T00:00:00.123Z","request_start_ns":1767225600123456789,"request_end_ns":1767225600123456794,"a":1}',
  );
  const whole = formatMetadata({
    ...common,
    model: "m",
    conversation: "7",
    server: "host:1",
    sendOffsetNs: 3n,
    ackEpochNs: SEND_EPOCH_NS + 1n,
    rest: {},
  });
  assert.deepEqual(Object.keys(JSON.parse(`${whole.slice(0, -2)}}`) as object), [
    "model",
    "conversation_id",
    "server",
    "request_start_time",
    "request_start_ns",
    "request_start_offset_ns",
    "request_ack_ns",
    "request_end_ns",
  ]);
});

test("a failed request has its reason, and one that this client ended counts as cancelled", () => {
  const failure = { kind: "http", message: "HTTP status 503", status: 503 } as const;
  assert.equal(
    formatLine("{}", { latency: { value: 1.5, unit: "ms" } }, failureOf(failure)),
    '{"metadata":{},"metrics":{"latency":{"value":1.5,"unit":"ms"}},"error":{"code":503,"type":"http","message":"HTTP status 503"}}\n',
  );
  assert.equal(formatLine("{}", {}, undefined), '{"metadata":{},"metrics":{}}\n');
  const cancelled = (["aborted", "cancelled", "unfinished", "http", "timeout"] as const).filter((kind) =>
    wasCancelled({ kind }),
  );
  assert.deepEqual(cancelled, ["aborted", "cancelled", "unfinished"]);
});
