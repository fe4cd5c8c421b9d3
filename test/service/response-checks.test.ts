import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { addExplanation, appendExplanation, describeBytes, explainStatus } from "../../src/service/explain-error.ts";
import { createPayloadChecks } from "../../src/service/openai/response-check.ts";
import type { ResponseKind } from "../../src/service/openai/response-kind.ts";
import { encodeMessage, type ProtoObject } from "../../src/service/protobuf/message.ts";
import { createGrpcChecks } from "../../src/service/triton/grpc-response-check.ts";
import { createHttpChecks } from "../../src/service/triton/http-response-check.ts";
import { INFER_RESPONSE } from "../../src/service/triton/messages.ts";
import type { Failure } from "../../src/transport/failure.ts";
import type { CreateResponseCheck, ResponseHead } from "../../src/transport/response-check.ts";

/** What counts as a response, whole and in pieces, first seen and when responses like it are known. */

const encoder = new TextEncoder();
const HEAD: ResponseHead = { jsonBytes: 0, isJson: false };

/** What is wrong with bodies that come one after the other; undefined where nothing is. */
function judge(create: CreateResponseCheck, bodies: readonly Uint8Array[], head = HEAD): (string | undefined)[] {
  const check = create();
  return bodies.map((body) => {
    // As in a read buffer: other bytes stand around it.
    const buffer = new Uint8Array(body.length + 20).fill(0x7b);
    buffer.set(body, 10);
    const whole = check.whole(buffer, 10, 10 + body.length, head)?.reason;
    check.begin(head);
    for (let at = 0; at < body.length; at += 7) check.piece(body, at, Math.min(body.length, at + 7));
    assert.equal(check.end()?.reason, whole, "in pieces it is judged otherwise");
    return whole;
  });
}

const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

function jsonAnswer(data: readonly number[], more: object = {}): Uint8Array {
  const outputs = [{ name: "OUT", datatype: "INT32", shape: [1, 4], data }];
  return encoder.encode(JSON.stringify({ model_name: "m", model_version: "1", outputs, ...more }));
}

function binaryAnswer(id: string, data: Uint8Array, more: object = {}): { body: Uint8Array; head: ResponseHead } {
  const parameters = { binary_data_size: 16 };
  const outputs = [{ name: "OUT", datatype: "INT32", shape: [1, 4], parameters, ...more }];
  const json = encoder.encode(JSON.stringify({ id, model_name: "m", outputs }));
  return { body: join(json, data), head: { jsonBytes: json.length, isJson: false } };
}

describe("a response of KServe over HTTP", () => {
  const good = jsonAnswer([1, 2, 3, 4]);
  const refused: readonly (readonly [what: string, body: Uint8Array, reason: RegExp])[] = [
    ["nothing", new Uint8Array(0), /^the response is empty$/],
    ["blanks", encoder.encode(" \r\n"), /^the response is empty$/],
    ["an HTML page", encoder.encode("<html><title>hi</title></html>"), /^an HTML page came in place of a response$/],
    ["garbage", Uint8Array.from({ length: 80 }, (_, i) => (i * 97) & 0xff), /^the response is not JSON$/],
    ["JSON that is cut", good.slice(0, -3), /^the response is not JSON$/],
    ["a list", encoder.encode("[]"), /^the response is not a JSON object$/],
    ["an error", encoder.encode('{"error":"out of memory"}'), /^the server sent an error within its response$/],
    ["other JSON", encoder.encode('{"detail":"Not Found"}'), /^the response has no outputs$/],
    [
      "an output without data",
      encoder.encode('{"outputs":[{"name":"O","datatype":"FP32","shape":[1]}]}'),
      /'O' has no data/,
    ],
    ["another number of elements", jsonAnswer([1, 2, 3]), /'OUT' has 3 elements, where shape \[1,4\] has 4/],
    ["bytes behind the JSON", join(good, encoder.encode("{}")), /^the response is not JSON$/],
  ];
  for (const [what, body, reason] of refused)
    test(`is not ${what}, before and after good ones`, () => {
      const [first, , again] = judge(createHttpChecks(undefined), [body, good, body]);
      assert.match(first ?? "", reason);
      assert.match(again ?? "", reason);
    });

  test("may have other data and other ids", () => {
    const responses = [
      good,
      jsonAnswer([5, 6, 7, 8]),
      jsonAnswer([50, 60, 70, -80]),
      jsonAnswer([1, 1, 1, 1], { id: "7" }),
    ];
    assert.deepEqual(judge(createHttpChecks(undefined), responses), [undefined, undefined, undefined, undefined]);
  });

  test("with binary data is known by its JSON and its length, whatever its data and its id are", () => {
    const create = createHttpChecks(undefined);
    for (const [id, fill] of [
      ["1", 0],
      ["2", 9],
      ["3", 255],
    ] as const) {
      const { body, head } = binaryAnswer(id, new Uint8Array(16).fill(fill));
      assert.deepEqual(judge(create, [body], head), [undefined]);
    }
    for (const size of [0, 15, 17, 160]) {
      const { body, head } = binaryAnswer("4", new Uint8Array(size));
      assert.match(judge(create, [body], head)[0] ?? "", /bytes (more|less) than its outputs' sizes add up to$/);
    }
    const { body, head } = binaryAnswer("5", new Uint8Array(16), { shape: [1, 5] });
    assert.match(
      judge(create, [body], head)[0] ?? "",
      /'OUT' has 16 bytes of data, where INT32 of shape \[1,5\] has 20/,
    );
    const longer = { ...head, jsonBytes: 9999 };
    assert.match(judge(create, [body], longer)[0] ?? "", /^Inference-Header-Content-Length 9999 is longer/);
  });

  test("is refused as a stream of events", () => {
    const check = createHttpChecks(undefined)();
    check.begin(HEAD);
    const event = encoder.encode("data: {}\n\n");
    check.event(event, 0, event.length);
    assert.match(check.end()?.reason ?? "", /^a stream of events came in place of an inference response$/);
  });
});

function message(more: ProtoObject = {}): Uint8Array {
  const output = (name: string): ProtoObject => ({ name, datatype: "INT32", shape: [1, 4] });
  return encodeMessage(INFER_RESPONSE, {
    model_name: "m",
    outputs: [output("A"), output("B")],
    raw_output_contents: [new Uint8Array(16), new Uint8Array(16)],
    ...more,
  });
}

describe("a response of KServe over gRPC", () => {
  const good = message();
  const refused: readonly (readonly [what: string, body: Uint8Array, reason: RegExp])[] = [
    ["an empty message", new Uint8Array(0), /not a ModelInferResponse: it has neither a model's name nor outputs/],
    ["text", encoder.encode("<html><head></head></html>"), /^the message is not a ModelInferResponse: protobuf/],
    ["a message that is cut", good.slice(0, -1), /not a ModelInferResponse: protobuf field reaches past its message/],
    ["another message", Uint8Array.of(0x08, 0x01), /not a ModelInferResponse: protobuf field 1 has wire type 0/],
    ["a message without data", message({ raw_output_contents: [] }), /^output 'A' has no data$/],
    [
      "a message that lacks an output's data",
      message({ raw_output_contents: [new Uint8Array(16)] }),
      /'B' has no data/,
    ],
    [
      "one with data of another length",
      message({ raw_output_contents: [new Uint8Array(16), new Uint8Array(12)] }),
      /'B' has 12 bytes/,
    ],
    [
      "one with more data",
      message({ raw_output_contents: [16, 16, 1].map((size) => new Uint8Array(size)) }),
      /3 raw contents for 2 outputs/,
    ],
    [
      "one whose outputs have no datatype",
      message({ outputs: [{ name: "A", shape: [4] }] }),
      /'A' has no known datatype/,
    ],
  ];
  for (const [what, body, reason] of refused)
    test(`is not ${what}, before and after good ones`, () => {
      const [first, , again] = judge(createGrpcChecks(undefined), [body, good, body]);
      assert.match(first ?? "", reason);
      assert.match(again ?? "", reason);
    });

  test("may have other data, other ids, typed contents and text of any length", () => {
    const other = [new Uint8Array(16).fill(7), new Uint8Array(16).fill(0xff)];
    const text = { name: "T", datatype: "BYTES", shape: [1] };
    const typed = { name: "F", datatype: "FP32", shape: [2], contents: { fp32_contents: [1, 2] } };
    const responses = [
      good,
      message({ raw_output_contents: other }),
      message({ id: "17" }),
      message({ id: "18", raw_output_contents: other }),
      ...[1, 5, 40].map((size) => message({ outputs: [text], raw_output_contents: [new Uint8Array(size)] })),
      message({ outputs: [typed], raw_output_contents: [] }),
    ];
    const create = createGrpcChecks(undefined);
    for (let round = 0; round < 2; round++)
      assert.deepEqual(
        judge(create, responses),
        responses.map(() => undefined),
      );
  });

  test("needs no data where outputs lie in shared memory", () => {
    const places = new Map(["A", "B"].map((name) => [name, { region: "r", offset: 0, sizeBytes: 16 }]));
    assert.deepEqual(judge(createGrpcChecks(places), [message({ raw_output_contents: [] })]), [undefined]);
  });
});

const chat = (content: string): Uint8Array =>
  encoder.encode(
    JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", choices: [{ index: 0, message: { content } }] }),
  );

describe("a response to a payload", () => {
  const refused: readonly (readonly [kind: ResponseKind | undefined, body: string, reason: RegExp, isJson?: true])[] = [
    ["chat", "", /^the response is empty$/],
    ["chat", "<!DOCTYPE html><html></html>", /^an HTML page came/],
    ["chat", "{this is not json", /^the response is not JSON$/],
    ["chat", "all is well", /^the response is not JSON$/],
    ["chat", '{"detail":"Not Found"}', /^the response has no list of choices$/],
    ["chat", "null", /^the response is not a JSON object$/],
    ["chat", '{"object":"error","message":"too long"}', /sent an error/],
    ["embeddings", '{"data":null}', /^the response has no list of data$/],
    ["responses", '{"error":{"message":"no"},"output":[]}', /sent an error/],
    ["rankings", "not found", /^the response is not JSON$/],
    [undefined, "", /^the response is empty$/],
    [undefined, "<html><body>", /^an HTML page came/],
    [undefined, "{this is not json", /^the response is not JSON$/, true],
    ["chat", "data: [DONE]\n\n", /^the response is events without data$/],
  ];
  for (const [kind, body, reason, isJson = false] of refused)
    test(`of the kind ${kind ?? "unknown"} is not ${JSON.stringify(body)}, before and after good ones`, () => {
      const bytes = encoder.encode(body);
      const [first, , again] = judge(createPayloadChecks(kind), [bytes, chat("a"), bytes], { jsonBytes: 0, isJson });
      assert.match(first ?? "", reason);
      assert.match(again ?? "", reason);
    });

  test("may have any text, and plain text or events when its kind is unknown", () => {
    const texts = ["a", "b c", "x".repeat(9000), '"quoted" {', ""].map(chat);
    assert.deepEqual(
      judge(createPayloadChecks("chat"), texts),
      texts.map(() => undefined),
    );
    const bare = ["well", "{well", "data: {}\n\n"].map((text) => encoder.encode(text));
    assert.deepEqual(
      judge(createPayloadChecks(undefined), bare),
      bare.map(() => undefined),
    );
  });
});

const EVENT =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const DONE = "data: [DONE]\n\n";

/** What is wrong with streams that come one after the other. */
function judgeStreams(kind: ResponseKind | undefined, streams: readonly (readonly string[])[]): (string | undefined)[] {
  const check = createPayloadChecks(kind)();
  return streams.map((events) => {
    check.begin(HEAD);
    // Views of a read buffer, as the client passes them.
    const bytes = encoder.encode(events.join(""));
    let start = 0;
    for (const event of events) {
      const end = start + encoder.encode(event).length;
      check.event(bytes, start, end);
      start = end;
    }
    return check.end()?.reason;
  });
}

describe("a stream of events", () => {
  const good = [EVENT, EVENT.replace('"a"', '" b"'), DONE];
  const refused: readonly (readonly [event: string, reason: RegExp])[] = [
    ["data: {not json\n\n", /^the data of an event is not JSON$/],
    ["data: null\n\n", /^the data of an event is not a JSON object$/],
    ["data: hello\n\n", /^the data of an event is not JSON$/],
    [EVENT.replace("}}]}", "}}]"), /^the data of an event is not JSON$/],
    ["<html><body></body></html>\n\n", /^an HTML page came/],
    ["garbage\n\n", /^the stream contains something that is not an event$/],
    ['data: {"error":{"message":"no room"}}\n\n', /sent an error within its response/],
    ["event: error\ndata: gone\n\n", /sent an error within its response/],
  ];
  for (const [event, reason] of refused)
    test(`has no ${JSON.stringify(event.slice(0, 40))}, before and after good events`, () => {
      const found = judgeStreams("chat", [[event, ...good], good, [...good.slice(0, 2), event, DONE], good]);
      assert.match(found[0] ?? "", reason);
      assert.match(found[2] ?? "", reason);
      assert.deepEqual([found[1], found[3]], [undefined, undefined]);
    });

  test("has an event with data", () => {
    const found = judgeStreams("chat", [[DONE], [": ping\n\n", DONE], [": ping\n\n", EVENT, DONE]]);
    assert.match(found[0] ?? "", /ended without an event that has data/);
    assert.match(found[1] ?? "", /ended without an event that has data/);
    assert.equal(found[2], undefined);
  });

  test("may have names, ids, comments, several lines of data and any line break", () => {
    const delta = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n';
    const lines = 'id: 1\nretry: 5\ndata: {"choices":[\ndata: ]}\n\n';
    const streams = [[delta, delta, delta.replaceAll("\n", "\r\n")], [": hi\ndata: {}\n\n"], [lines], ["data:{}\r\r"]];
    assert.deepEqual(judgeStreams("responses", streams), [undefined, undefined, undefined, undefined]);
    assert.deepEqual(judgeStreams(undefined, [["data: a b\n\n"]]), [undefined]);
  });
});

/** What a failure says about the body of its response. */

const FAILURE: Failure = { kind: "http", status: 400, message: "HTTP status 400" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const [what, body, expected] of [
  ["text", bytes("no such model"), "no such model"],
  ["nothing", bytes(""), ""],
  [
    "text in another encoding",
    Uint8Array.of(...bytes("Modell nicht verf"), 0xfc, ...bytes("gbar")),
    "Modell nicht verf\ufffdgbar",
  ],
  ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x41), "3 bytes"],
  ["bytes with a NUL", Uint8Array.of(0x41, 0, 0x42), "3 bytes"],
] as const)
  test(`a body is described: ${what}`, () => assert.equal(describeBytes(body), expected));

test("an error page that a proxy compressed is text, also without its end", () => {
  const page = gzipSync(`<p>no such model</p>${" ".repeat(9000)}`);
  for (const body of [page, page.subarray(0, -8)])
    assert.equal(explainStatus(FAILURE, body).message, "HTTP status 400: <p>no such model</p>");
  const bomb = gzipSync(new Uint8Array(2 * 1024 * 1024));
  for (const body of [bomb, Uint8Array.of(0x1f, 0x8b, 7, 0xff)])
    assert.equal(explainStatus(FAILURE, body).message, `HTTP status 400: ${body.length} bytes`);
});

test("an error status gets the response on one line, and the response itself as its response", () => {
  const explained = explainStatus(FAILURE, bytes(" no such\n  model "));
  assert.deepEqual(explained, { ...FAILURE, message: "HTTP status 400: no such model", response: "no such\n  model" });
  for (const body of [undefined, bytes(""), bytes(" \n")]) assert.equal(explainStatus(FAILURE, body), FAILURE);
  const closed: Failure = { kind: "closed", message: "the connection closed" };
  assert.equal(explainStatus(closed, bytes("no such model")), closed);
});

test("long explanations are cut, and an empty one adds nothing", () => {
  const long = "x".repeat(10_000);
  assert.equal(appendExplanation(FAILURE, long).message, `HTTP status 400: ${"x".repeat(300)}`);
  assert.equal(addExplanation(FAILURE, long, "why").response?.length, 4096);
  assert.equal(appendExplanation(FAILURE, ""), FAILURE);
  assert.equal(addExplanation(FAILURE, long, ""), FAILURE);
});
