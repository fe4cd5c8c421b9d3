import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { HeaderReader } from "../../../src/transport/http2/frame-handler.ts";
import { encodeLiterally, HpackDecoder, RepeatedHeaders } from "../../../src/transport/http2/hpack.ts";
import type { Header } from "../../../src/transport/request.ts";
import { hex, join } from "../bytes.ts";
import { headerBlock } from "./write-frames.ts";

type Step = readonly [block: string, headers: readonly (readonly [string, string])[]];

const GET_EXAMPLE = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
] as const;
const NO_CACHE = ["cache-control", "no-cache"] as const;
const CUSTOM = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
] as const;
const DATE = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"] as const;
const LOCATION = ["location", "https://www.example.com"] as const;
const MOVED = [[":status", "302"], ["cache-control", "private"], DATE, LOCATION] as const;
const TEMPORARY = [[":status", "307"], ["cache-control", "private"], DATE, LOCATION] as const;
const ZIPPED = [
  [":status", "200"],
  ["cache-control", "private"],
  ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
  LOCATION,
  ["content-encoding", "gzip"],
  ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
] as const;

/** RFC 7541, appendix C: each row is one connection. */
const VECTORS: readonly (readonly [name: string, tableBytes: number, steps: readonly Step[]])[] = [
  [
    "C.2.1 literal with indexing",
    4096,
    [["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [["custom-key", "custom-header"]]]],
  ],
  ["C.2.2 literal without indexing", 4096, [["040c 2f73 616d 706c 652f 7061 7468", [[":path", "/sample/path"]]]]],
  ["C.2.3 literal never indexed", 4096, [["1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]]]]],
  ["C.2.4 indexed", 4096, [["82", [[":method", "GET"]]]]],
  [
    "C.3 requests without Huffman",
    4096,
    [
      ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", GET_EXAMPLE],
      ["8286 84be 5808 6e6f 2d63 6163 6865", [...GET_EXAMPLE, NO_CACHE]],
      ["8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", CUSTOM],
    ],
  ],
  [
    "C.4 requests with Huffman",
    4096,
    [
      ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", GET_EXAMPLE],
      ["8286 84be 5886 a8eb 1064 9cbf", [...GET_EXAMPLE, NO_CACHE]],
      ["8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", CUSTOM],
    ],
  ],
  [
    "C.5 responses without Huffman, with eviction",
    256,
    [
      [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        MOVED,
      ],
      ["4803 3330 37c1 c0bf", TEMPORARY],
      [
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
        ZIPPED,
      ],
    ],
  ],
  [
    "C.6 responses with Huffman, with eviction",
    256,
    [
      [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        MOVED,
      ],
      ["4883 640e ffc1 c0bf", TEMPORARY],
      [
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        ZIPPED,
      ],
    ],
  ],
];

describe("HPACK decoder: RFC 7541", () => {
  for (const [name, tableBytes, steps] of VECTORS) {
    test(name, () => {
      const decoder = new HpackDecoder(tableBytes);
      for (const [block, headers] of steps) assert.deepEqual(decoder.decode(hex(block)), headers);
    });
  }

  test("C.1 integers of every size, as string lengths", () => {
    for (const size of [0, 1, 126, 127, 128, 254, 255, 1337, 16_511, 70_000]) {
      const headers = [["name", "v".repeat(size)]] as const;
      assert.deepEqual(new HpackDecoder(4096).decode(headerBlock(headers)), headers);
    }
  });

  test("a table size of 0 drops all entries, and a larger one starts empty", () => {
    const decoder = new HpackDecoder(4096);
    decoder.decode(hex("4001 6101 62")); // a: b becomes entry 62
    assert.deepEqual(decoder.decode(hex("be")), [["a", "b"]]);
    assert.deepEqual(decoder.decode(hex("20 3fe1 1f")), []); // 0, then 4096
    assert.throws(() => decoder.decode(hex("be")), /header index 62 is not in the table/);
  });

  test("an entry larger than the table empties it", () => {
    const decoder = new HpackDecoder(64);
    decoder.decode(hex("4001 6101 62"));
    const long = join(hex("4001 637f 00"), new Uint8Array(127).fill(0x64));
    assert.equal(decoder.decode(long)[0]?.[1].length, 127);
    assert.throws(() => decoder.decode(hex("be")), /not in the table/);
  });

  test("entries are counted in bytes, not in characters", () => {
    const decoder = new HpackDecoder(80);
    // Each entry: 1 + 8 + 32 = 41 bytes, so that only one fits; in characters it is 37 and two would.
    const entry = (name: string): Uint8Array => join(hex(`4001 ${name} 08`), hex("c3a9 c3a9 c3a9 c3a9"));
    decoder.decode(join(entry("61"), entry("62")));
    assert.deepEqual(decoder.decode(hex("be")), [["b", "éééé"]]);
    assert.throws(() => decoder.decode(hex("bf")), /header index 63 is not in the table/);
  });
});

describe("HPACK decoder refuses", () => {
  for (const [name, block, message] of [
    ["index 0", "80", /^header index 0 is not in the table$/],
    ["an index that nothing was put at", "be", /^header index 62 is not in the table$/],
    ["a name index that nothing was put at", "7f 00 0161", /^header index 63 is not in the table$/],
    ["an integer that never ends", "ff ffff ffff ffff ff", /^header integer is too large$/],
    ["an integer that is cut off", "ff 80", /^header block ends early$/],
    ["a string past the end of its block", "0005 6162", /^header string reaches past its block$/],
    ["a block that ends after a name", "0001 61", /^header block ends early$/],
    ["a table size above the announced one", "3fe2 1f", /^header table size 4097 is above the announced limit$/],
    ["bad Huffman padding", "0001 6181 64", /^bad Huffman padding in a header$/],
  ] as const) {
    test(name, () => {
      assert.throws(
        () => new HpackDecoder(4096).decode(hex(block)),
        (error) => error instanceof ProtocolError && message.test(error.message),
      );
    });
  }

  test("a list that few bytes blow up to more than 1 MiB", () => {
    const decoder = new HpackDecoder(4096);
    decoder.decode(join(hex("4001 617f 810f"), new Uint8Array(2048).fill(0x62)));
    assert.throws(() => decoder.decode(new Uint8Array(1000).fill(0xbe)), /^ProtocolError: header list is too large$/);
  });
});

const LIST: readonly Header[] = [
  [":method", "POST"],
  [":path", "/inference.GRPCInferenceService/ModelInfer"],
  ["te", "trailers"],
  ["x-long", "y".repeat(300)],
  ["empty", ""],
  ["unicode", "é"],
];

describe("HPACK encoder", () => {
  test("literal blocks are read back and leave the table alone", () => {
    const decoder = new HpackDecoder(4096);
    for (let i = 0; i < 2; i++) assert.deepEqual(decoder.decode(encodeLiterally(LIST)), LIST);
    assert.equal(decoder.generation, 0);
  });

  test("repeated headers are taught once and then take a byte each", () => {
    const decoder = new HpackDecoder(4096);
    const repeated = new RepeatedHeaders(LIST);
    const blocks = [1, 2, 3].map(() => repeated.nextBlock(4096));
    for (const block of blocks) assert.deepEqual(decoder.decode(block), LIST);
    assert.equal(blocks[1]?.length, LIST.length);
    assert.equal(blocks[2], blocks[1]);
  });

  test("two lists taught in turn on one connection do not mix", () => {
    const decoder = new HpackDecoder(4096);
    const other: Header[] = [
      [":method", "POST"],
      [":path", "/other"],
      ["te", "trailers"],
    ];
    for (const list of [LIST, other, LIST, other]) {
      const repeated = new RepeatedHeaders(list);
      for (let i = 0; i < 2; i++) assert.deepEqual(decoder.decode(repeated.nextBlock(4096)), list);
    }
  });

  test("lists too long for the table are sent in full each time", () => {
    const list: Header[] = Array.from({ length: 50 }, (_, index) => [`x-${index}`, "v".repeat(100)]);
    const decoder = new HpackDecoder(4096);
    const repeated = new RepeatedHeaders(list);
    for (let i = 0; i < 2; i++) assert.deepEqual(decoder.decode(repeated.nextBlock(4096)), list);
  });

  for (const smaller of [0, 100, 4095]) {
    test(`a peer that lowers its table to ${smaller} is signalled first, once, and finds nothing in it`, () => {
      const decoder = new HpackDecoder(4096);
      const repeated = new RepeatedHeaders(LIST);
      for (let i = 0; i < 2; i++) decoder.decode(repeated.nextBlock(4096));
      const first = repeated.nextBlock(smaller);
      // RFC 7541, 4.2: a size update stands at the beginning of the first block after the change.
      assert.equal((first[0] as number) & 0xe0, 0x20);
      assert.deepEqual(decoder.decode(first), LIST);
      const second = repeated.nextBlock(smaller);
      assert.notEqual((second[0] as number) & 0xe0, 0x20);
      assert.deepEqual(decoder.decode(second), LIST);
    });
  }

  test("a peer that raises its table again is understood", () => {
    const decoder = new HpackDecoder(4096);
    const repeated = new RepeatedHeaders(LIST);
    for (const tableBytes of [4096, 4096, 0, 0, 4096, 4096, 65_536, 0, 65_536])
      assert.deepEqual(decoder.decode(repeated.nextBlock(tableBytes)), LIST);
  });
});

describe("header reader", () => {
  test("gives the same list for the same block as long as the table stays as it is", () => {
    const reader = new HeaderReader();
    const block = headerBlock([["grpc-status", "0"]]);
    const first = reader.read(block);
    assert.equal(reader.read(block.slice()), first);
    reader.read(hex("4001 6101 62"));
    assert.deepEqual(reader.read(block), first);
  });

  test("parses an indexed block again when its entry has changed", () => {
    const reader = new HeaderReader();
    reader.read(hex("4001 6101 62"));
    assert.deepEqual(reader.read(hex("be")), [["a", "b"]]);
    reader.read(hex("4001 6101 63"));
    assert.deepEqual(reader.read(hex("be")), [["a", "c"]]);
  });

  test("does not keep the caller's buffer", () => {
    const reader = new HeaderReader();
    const block = headerBlock([["a", "1"]]);
    reader.read(block);
    block[block.length - 1] = "2".charCodeAt(0);
    assert.deepEqual(reader.read(block), [["a", "2"]]);
  });
});
