import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { decodeHuffman } from "../../../src/transport/http2/huffman.ts";
import { hex, latin1 } from "../bytes.ts";

/** Coded strings of RFC 7541, appendix C, and codes of appendix B chosen from every length. */
const STRINGS: readonly (readonly [code: string, text: string])[] = [
  ["", ""],
  ["f1e3 c2e5 f23a 6ba0 ab90 f4ff", "www.example.com"],
  ["a8eb 1064 9cbf", "no-cache"],
  ["25a8 49e9 5ba9 7d7f", "custom-key"],
  ["25a8 49e9 5bb8 e8b4 bf", "custom-value"],
  ["6402", "302"],
  ["aec3 771a 4b", "private"],
  ["d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff", "Mon, 21 Oct 2013 20:13:21 GMT"],
  ["9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3", "https://www.example.com"],
  ["640e ff", "307"],
  ["9bd9 ab", "gzip"],
  [
    "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  ],
  ["07", "0"],
  ["f8", "&"],
  ["fe 3f", "!"],
  ["ff c7", "\0"],
  ["ff fe 6f", "\u0080"],
];

describe("Huffman decoder", () => {
  for (const [code, text] of STRINGS) {
    test(`reads ${JSON.stringify(text)}`, () => {
      const bytes = hex(code);
      assert.deepEqual(decodeHuffman(bytes, 0, bytes.length), [...latin1(text)]);
    });
  }

  test("reads a part of a block", () => {
    const bytes = hex("ffff 6402 ffff");
    assert.deepEqual(decodeHuffman(bytes, 2, 4), [...latin1("302")]);
  });

  for (const [name, code, message] of [
    ["the end-of-string symbol", "ff ff ff ff", /end-of-string symbol/],
    ["padding of zeros", "64", /padding/],
    ["padding of a whole byte", "6402 ff", /padding/],
    ["a code that is cut off", "ff fe", /padding/],
  ] as const) {
    test(`refuses ${name}`, () => {
      const bytes = hex(code);
      assert.throws(
        () => decodeHuffman(bytes, 0, bytes.length),
        (error) => error instanceof ProtocolError && message.test(error.message),
      );
    });
  }
});
