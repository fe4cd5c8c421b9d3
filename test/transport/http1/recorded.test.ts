import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { splits, toText } from "../bytes.ts";
import * as recorded from "../fixtures/recorded.ts";
import { httpCodec, simpleModel, toInt32 } from "../simple-model.ts";
import { readResponses } from "./read-responses.ts";

/** What Triton and nginx sent, byte for byte, read at every cut. */

interface Expected {
  readonly recording: recorded.Recording;
  readonly status: number;
  readonly body: RegExp;
  readonly isClosing?: true;
}

const EXPECTED: readonly Expected[] = [
  { recording: recorded.tritonServer, status: 200, body: /^\{"name":"triton","version":"2\.51\.0".*\]\}$/ },
  { recording: recorded.tritonReady, status: 200, body: /^$/ },
  {
    recording: recorded.tritonUnknownModel,
    status: 404,
    body: /^\{"error":"Request for unknown model: 'none' is not found"\}$/,
  },
  { recording: recorded.nginxLength, status: 200, body: /^sixteen bytes\.\.\n$/ },
  { recording: recorded.nginxChunked, status: 200, body: /^before sixteen bytes\.\.\n after\n$/ },
  { recording: recorded.nginxEmpty, status: 204, body: /^$/ },
  { recording: recorded.nginxMoved, status: 301, body: /^<html>[\s\S]*301 Moved Permanently[\s\S]*<\/html>\r\n$/ },
  { recording: recorded.nginxMissing, status: 404, body: /^<html>[\s\S]*404 Not Found[\s\S]*<\/html>\r\n$/ },
  { recording: recorded.nginxClose, status: 200, body: /^closed after this\n$/, isClosing: true },
  { recording: recorded.nginxContinue, status: 200, body: /^\{"id":"0000","model_name":"simple"/ },
];

describe("recorded HTTP/1.1 responses", () => {
  for (const { recording, status, body, isClosing } of EXPECTED) {
    test(`${recording.server}: ${recording.request} gives ${status}`, () => {
      for (const pieces of splits(recording.bytes)) {
        const [response, ...others] = readResponses(pieces);
        assert.equal(response?.status, status);
        assert.match(toText(response?.body ?? new Uint8Array(0)), body);
        assert.equal(response?.keepAlive, isClosing !== true);
        assert.equal(others.length, 0);
      }
    });
  }

  test("the recordings contain chunks, 1xx and a close", () => {
    assert.match(toText(recorded.nginxChunked.bytes), /Transfer-Encoding: chunked[\s\S]*\r\n0\r\n\r\n$/);
    assert.match(toText(recorded.nginxContinue.bytes), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    assert.match(toText(recorded.nginxClose.bytes), /Connection: close/);
    assert.match(toText(recorded.tritonInferBinary.bytes), /Inference-Header-Content-Length: \d+/);
  });

  for (const [format, recording] of [
    ["binary", recorded.tritonInferBinary],
    ["json", recorded.tritonInferJson],
  ] as const) {
    test(`${recording.server}: an inference with ${format} outputs is decoded`, () => {
      const [response] = readResponses([recording.bytes]);
      assert.ok(response !== undefined);
      assert.equal(response.jsonBytes > 0, format === "binary");
      const codec = httpCodec(simpleModel, format);
      const { id, outputs } = codec.decode(response.body, response.jsonBytes);
      assert.equal(id, "0000");
      assert.deepEqual(
        toInt32(outputs.get("OUTPUT0")?.bytes),
        Array.from({ length: 16 }, (_, index) => index + 1),
      );
      assert.deepEqual(
        toInt32(outputs.get("OUTPUT1")?.bytes),
        Array.from({ length: 16 }, (_, index) => index - 1),
      );
      assert.deepEqual(outputs.get("OUTPUT0")?.shape, [1, 16]);
    });
  }
});
