import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { ResponseParser } from "../../../src/transport/http1/parser.ts";
import { MAX_HEAD_BYTES } from "../../../src/transport/http1/response-head.ts";
import { inPieces, latin1, splits, toText } from "../bytes.ts";
import { readResponses } from "./read-responses.ts";

interface GoodCase {
  readonly name: string;
  readonly bytes: string;
  /** The connection closes after the bytes. */
  readonly isEnded?: boolean;
  /** Status, body, whether the connection lives on, and the length of the JSON part. */
  readonly responses: readonly (readonly [status: number, body: string, keepAlive: boolean, jsonBytes?: number])[];
}

const GOOD: readonly GoodCase[] = [
  {
    name: "a counted body",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    responses: [[200, "hello", true]],
  },
  {
    name: "a counted body of nothing",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    responses: [[200, "", true]],
  },
  {
    name: "header names in any case and blanks around values",
    bytes: "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:\t 3 \t\r\nINFERENCE-HEADER-CONTENT-LENGTH: 2\r\n\r\nabc",
    responses: [[200, "abc", true, 2]],
  },
  {
    name: "headers whose names only begin like known ones",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length-Of-It: 9\r\nConnections: close\r\nContent-Length: 1\r\n\r\nx",
    responses: [[200, "x", true]],
  },
  {
    name: "the same Content-Length twice",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab",
    responses: [[200, "ab", true]],
  },
  {
    name: "no reason phrase, with and without the blank before it",
    bytes: "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\naHTTP/1.1 201 \r\nContent-Length: 1\r\n\r\nb",
    responses: [
      [200, "a", true],
      [201, "b", true],
    ],
  },
  {
    name: "lines that end with a line feed alone",
    bytes: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    responses: [[200, "ok", true]],
  },
  {
    name: "chunks, with extensions, capital digits and leading zeros",
    bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nWiki\r\n00A \r\n0123456789\r\n0\r\n\r\n",
    responses: [[200, "Wiki0123456789", true]],
  },
  {
    name: "chunks with trailers",
    bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\n\r\n",
    responses: [[200, "ab", true]],
  },
  {
    name: "chunks of nothing",
    bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    responses: [[200, "", true]],
  },
  {
    name: "chunks that override a Content-Length, and end the connection",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    responses: [[200, "a", false]],
  },
  {
    name: "several 1xx responses before the final one",
    bytes:
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Length: 4\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    responses: [[200, "ok", true]],
  },
  {
    name: "responses one after the other, which share nothing",
    bytes:
      "HTTP/1.1 200 OK\r\nInference-Header-Content-Length: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nabHTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz",
    responses: [
      [200, "ab", false, 1],
      [404, "x", true],
      [200, "z", true],
    ],
  },
  {
    name: "204 and 304 without a body, whatever their headers say",
    bytes:
      "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
    responses: [
      [204, "", true],
      [304, "", true],
    ],
  },
  {
    name: "Connection: close among other options",
    bytes: "HTTP/1.1 200 OK\r\nConnection: Upgrade , Close\r\nContent-Length: 0\r\n\r\n",
    responses: [[200, "", false]],
  },
  {
    name: "HTTP/1.0, which closes unless told otherwise",
    bytes:
      "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nb",
    responses: [
      [200, "a", false],
      [200, "b", true],
    ],
  },
  {
    name: "a body that lasts until the connection closes",
    bytes: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil\r\n\r\nthe end",
    isEnded: true,
    responses: [[200, "until\r\n\r\nthe end", false]],
  },
  {
    name: "an empty body that lasts until the connection closes",
    bytes: "HTTP/1.0 200 OK\r\n\r\n",
    isEnded: true,
    responses: [[200, "", false]],
  },
  { name: "a connection that closes between responses", bytes: "", isEnded: true, responses: [] },
];

const LONG = "a".repeat(MAX_HEAD_BYTES);

const BAD: readonly (readonly [name: string, bytes: string, message: RegExp, isEnded?: true])[] = [
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n", /^response does not start with HTTP\/1: "S/],
  ["HTTP/2's preface", "\0\0\x06\x04\0\0\0\0\0", /does not start with HTTP\/1/],
  ["lower-case http", "http/1.1 200 OK\r\n\r\n", /does not start with HTTP\/1: "h/],
  ["HTTP/2.0 in text", "HTTP/2.0 200 OK\r\n\r\n", /does not start with HTTP\/1: "HTTP\/2/],
  ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", /^bad HTTP version in "HTTP\/1\.2/],
  ["no blank after the version", "HTTP/1.1200 OK\r\n\r\n", /^bad HTTP version in "HTTP\/1\.12/],
  ["a short status line", "HTTP/1.1 20\r\n\r\n", /^bad status line "HTTP\/1\.1 20"/],
  ["a status of letters", "HTTP/1.1 2x0 OK\r\n\r\n", /^bad status line "HTTP\/1\.1 2x0 OK"/],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", /^bad status line "HTTP\/1\.1 2000 OK"/],
  ["no blank after the status", "HTTP/1.1 200OK\r\n\r\n", /^bad status line "HTTP\/1\.1 200OK"/],
  ["status 099", "HTTP/1.1 099 Low\r\n\r\n", /^bad status line/],
  ["status 600", "HTTP/1.1 600 High\r\n\r\n", /^bad status line/],
  ["101 unasked", "HTTP/1.1 101 Switching Protocols\r\n\r\n", /switched protocols \(101\)/],
  ["endless interim responses", "HTTP/1.1 102 Processing\r\n\r\n".repeat(1001), /^more than 1000 interim responses/],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", /^bad Content-Length " -1"/],
  ["a length of nothing", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", /^bad Content-Length/],
  ["a length of letters", "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n", /^bad Content-Length " 0x10"/],
  ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", /^bad Content-Length/],
  ["a huge length", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n", /^bad Content-Length/],
  [
    "two lengths",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    /two different Content-Length values: 5 and 6/,
  ],
  ["an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", /^unsupported Transfer-Encoding 'gzip'/],
  [
    "chunked, but not last",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
    /^unsupported Transfer-Encoding 'chunked, gzip'/,
  ],
  ["an endless head", `HTTP/1.1 200 OK\r\nX: ${LONG}`, /^response head is longer than 65536 bytes/],
  ["a head too long, ended", `HTTP/1.1 200 OK\r\nX: ${LONG}\r\n\r\n`, /^response head is longer than 65536 bytes/],
  ["an endless reason", `HTTP/1.1 200 ${LONG}`, /^response head is longer than 65536 bytes/],
  ["many short headers", `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(11_000)}`, /^response head is longer than/],
  ["closed within the status line", "HTTP/1.1 2", /^connection closed within the response head/, true],
  ["closed within the headers", "HTTP/1.1 200 OK\r\nConte", /^connection closed within the response head/, true],
  [
    "closed within a counted body",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
    /^connection closed within the response body \(2 bytes missing\)/,
    true,
  ],
];

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const BAD_CHUNKS: readonly (readonly [name: string, bytes: string, message: RegExp, isEnded?: true])[] = [
  ["no size", "\r\n", /^bad chunk size ""/],
  ["a size of letters", "xyz\r\n", /^bad chunk size "xyz"/],
  ["a size with a sign", "-1\r\n", /^bad chunk size "-1"/],
  ["a size with 0x", "0x5\r\nhello\r\n", /^bad chunk size "0x5"/],
  ["control characters for digits", "\x15\r\nhello\r\n0\r\n\r\n", /^bad chunk size/],
  ["a size and then anything", "5 zz\r\n", /^bad chunk size "5 zz"/],
  ["a huge size", "fffffffffffff\r\n", /^bad chunk size/],
  ["an endless size line", `5;${"e".repeat(2000)}`, /^chunk-size line is too long/],
  ["no line break after the data", "2\r\nabXX", /^chunk data is not followed by a line break/],
  ["half a line break after the data", "2\r\nab\rX", /^chunk data is not followed by a line break/],
  ["endless trailers", `0\r\n${"T: x\r\n".repeat(12_000)}`, /^trailers are too long/],
  ["one endless trailer", `0\r\nT: ${LONG}`, /^trailers are too long/],
  ["closed within a chunk", "5\r\nab", /^connection closed within the response body \(3 bytes missing\)/, true],
  ["closed after a chunk", "2\r\nab\r\n", /^connection closed within the response body \(expected chunk-size\)/, true],
  ["closed before the trailers", "0\r\n", /^connection closed within the response body \(expected trailers\)/, true],
];

describe("HTTP/1.1 parser reads", () => {
  for (const { name, bytes, isEnded, responses } of GOOD) {
    test(`${name}, however it is cut`, () => {
      for (const pieces of splits(latin1(bytes))) {
        const read = readResponses(pieces, isEnded);
        assert.deepEqual(
          read.map(({ status, body, keepAlive, jsonBytes }) => [status, toText(body), keepAlive, jsonBytes]),
          responses.map(([status, body, keepAlive, jsonBytes = 0]) => [status, body, keepAlive, jsonBytes]),
        );
      }
    });
  }
});

describe("HTTP/1.1 parser refuses", () => {
  const cases = [
    ...BAD,
    ...BAD_CHUNKS.map(([name, bytes, ...rest]) => [`chunks: ${name}`, CHUNKED + bytes, ...rest] as const),
  ];
  for (const [name, bytes, message, isEnded] of cases) {
    test(name, () => {
      const input = latin1(bytes);
      // Long inputs are cut into pieces of a socket's size instead of at every point.
      const ways = input.length > 1000 ? [[input], inPieces(input, 1460)] : splits(input);
      for (const pieces of ways) {
        assert.throws(
          () => readResponses(pieces, isEnded),
          (error) => error instanceof ProtocolError && message.test(error.message),
        );
      }
    });
  }
});

describe("HTTP/1.1 parser", () => {
  test("delivers no unwanted body bytes, and still frames the response", () => {
    let completed = 0;
    const parser = new ResponseParser({
      onHead: () => false,
      onBody: () => assert.fail("a body nobody wants"),
      onComplete: () => completed++,
    });
    parser.feed(latin1(`${CHUNKED}3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc`));
    assert.equal(completed, 2);
    assert.equal(parser.isBetweenResponses, true);
  });

  test("keeps the head as text only when asked to", () => {
    const head = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 0\r\n\r\n";
    for (const keepsHead of [true, false]) {
      const parser = new ResponseParser({ onHead: () => true, onBody: () => {}, onComplete: () => {} });
      parser.keepsHead = keepsHead;
      parser.feed(latin1(head));
      assert.equal(parser.headText, keepsHead ? head : "");
    }
  });

  test("knows whether a response is under way", () => {
    const parser = new ResponseParser({ onHead: () => true, onBody: () => {}, onComplete: () => {} });
    assert.equal(parser.isBetweenResponses, true);
    for (const [piece, isBetween] of [
      ["HTTP/1.1 200 OK\r\n", false],
      ["Content-Length: 2\r\n\r\n", false],
      ["a", false],
      ["b", true],
    ] as const) {
      parser.feed(latin1(piece));
      assert.equal(parser.isBetweenResponses, isBetween);
    }
  });

  test("does not keep the caller's buffer", () => {
    const bytes = latin1("HTTP/1.1 200 OK\r\nContent-Le");
    const responses: number[] = [];
    const parser = new ResponseParser({
      onHead: ({ head: { status } }) => responses.push(status) > 0,
      onBody: () => {},
      onComplete: () => {},
    });
    parser.feed(bytes);
    bytes.fill(0);
    parser.feed(latin1("ngth: 0\r\n\r\n"));
    assert.deepEqual(responses, [200]);
  });
});
