import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CutCheck, StreamEvents } from "../../../src/service/content.ts";
import { createPayloadCodec } from "../../../src/service/openai/codec.ts";
import { KeptEvents } from "../../../src/transport/kept-events.ts";
import { unreadable } from "../../../src/transport/response-check.ts";

/** Payloads as requests, and what responses say. */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const codec = createPayloadCodec("v1/chat/completions", true);

function payload(text: string) {
  return { bytes: encoder.encode(text) };
}

/** What is wrong with a response, or an event of one, with the server's words; undefined when nothing is. */
function explainAnswer(text: string): string | undefined {
  const check = codec.responseChecks()();
  const fault = check.whole(encoder.encode(text), 0, text.length, { jsonBytes: 0, isJson: false });
  return fault === undefined ? undefined : codec.explain(unreadable(fault.reason), fault.bytes).message;
}

describe("payloads", () => {
  test("a payload is sent unchanged to its path, and its headers request events or not", () => {
    const request = codec.encode(payload('{"model":"ä"}'), 0);
    assert.equal(request.path, "/v1/chat/completions");
    assert.equal(decoder.decode(request.payload), '{"model":"ä"}');
    assert.deepEqual(request.headers, [
      ["Content-Type", "application/json"],
      ["Accept", "text/event-stream"],
    ]);
    const single = createPayloadCodec("v1/embeddings", false).encode(payload("{}"), 0);
    assert.deepEqual(single.headers, [["Content-Type", "application/json"]]);
  });

  test("the bytes of a payload and of a response are passed on as they are, and not copied", () => {
    const content = payload("{}");
    assert.equal(codec.encode(content, 0).payload, content.bytes);
    const body = encoder.encode("data: ü\n\n");
    const { outputs, describe: print } = codec.decode(body, 0);
    assert.equal(outputs, body);
    assert.equal(print(), "data: ü\n\n");
  });

  const refused: readonly (readonly [answer: string, message: RegExp])[] = [
    ['data: {"error":{"message":"out of memory"}}\n\n', /within its response: out of memory$/],
    ['data: {"error":"no room"}\r\n\r\n', /within its response: no room$/],
    ['event: error\ndata: {"error":{"type":"overloaded"}}\n\n', /within its response: {"type":"overloaded"}$/],
    ["event: error\ndata: gone\n\n", /within its response: event: error data: gone$/],
    ['{"error":{"message":"too long"}}', /within its response: too long$/],
  ];
  for (const [answer, message] of refused) {
    test(`an error within a response that began well is a failure: ${JSON.stringify(answer)}`, () => {
      assert.match(explainAnswer(answer) ?? "", message);
    });
  }

  for (const answer of ['{"error":null,"choices":[]}', 'data: {"error":null}\n\n', 'data: {"choices":[]}\n\n']) {
    test(`no error: ${JSON.stringify(answer)}`, () => {
      assert.equal(explainAnswer(answer), undefined);
    });
  }

  const explained: readonly (readonly [body: string, message: string])[] = [
    ['{"error":{"message":"model not found","type":"x"}}', "HTTP status 404: model not found"],
    ['{"error":"no model"}', "HTTP status 404: no model"],
    ["<h1>Not Found</h1>\n", "HTTP status 404: <h1>Not Found</h1>"],
    ["", "HTTP status 404"],
  ];
  for (const [body, message] of explained) {
    test(`a status is explained by the server's message: ${JSON.stringify(body)}`, () => {
      const failure = { kind: "http", status: 404, message: "HTTP status 404" } as const;
      const answer = body === "" ? {} : { response: body.trim() };
      assert.deepEqual(codec.explain(failure, encoder.encode(body)), { ...failure, message, ...answer });
    });
  }
});

describe("a stream that is cut off", () => {
  const TOKEN = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
  const FINISH = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
  const USAGE = 'data: {"choices":[],"usage":{}}\n\n';
  const events = (...texts: readonly string[]): StreamEvents => {
    const kept = new KeptEvents();
    for (const bytes of texts.map((text) => encoder.encode(text))) kept.add(0, bytes, 0, bytes.length);
    return kept;
  };

  for (const [name, end] of [
    ["[DONE]", ["data: [DONE]\n\n"]],
    ["a finish reason", [FINISH]],
    ["a finish reason before the usage", [FINISH, USAGE]],
    ["a finish reason long before", [FINISH, USAGE, USAGE, USAGE]],
  ] as const)
    test(`is known once another has ended with ${name}`, () => {
      const { isUndecided, explain } = (codec.createCutCheck as () => CutCheck)();
      assert.deepEqual([isUndecided(events(TOKEN)), isUndecided(events())], [true, false]);
      assert.equal(explain(events(TOKEN, TOKEN)), undefined);
      assert.equal(explain(events(TOKEN, "data: [DONE]\n\n")), undefined);
      assert.equal(explain(events(TOKEN, ...end)), undefined);
      const cut = explain(events(TOKEN, TOKEN));
      assert.equal(cut?.mark, "[DONE] or a finish_reason");
      assert.match(cut?.message ?? "", /^the stream ended after 2 events without its end mark/);
      assert.equal(explain(events()), undefined, "not a stream");
      assert.equal(isUndecided(events(TOKEN)), false);
    });

  test("is not known of responses without an end mark", () => {
    assert.equal(createPayloadCodec("v2/models/m/generate_stream", true).createCutCheck, undefined);
  });
});
