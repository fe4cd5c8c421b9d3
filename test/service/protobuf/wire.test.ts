import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { decodeMessage, encodeMessage, formatText, message } from "../../../src/service/protobuf/message.ts";
import { ProtoReader, ProtoWriter } from "../../../src/service/protobuf/wire.ts";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { RUNS } from "../../fuzz/bounds.ts";
import { outcomeOf } from "../../fuzz/outcome.ts";
import { hex, latin1 } from "../../transport/bytes.ts";

/** Encodings of the protobuf documentation and of Google's own libraries. */
const VARINTS: readonly (readonly [value: number, bytes: string])[] = [
  [0, "00"],
  [1, "01"],
  [127, "7f"],
  [128, "8001"],
  [150, "9601"],
  [300, "ac02"],
  [2 ** 32 - 1, "ffffffff0f"],
  [2 ** 32, "8080808010"],
  [Number.MAX_SAFE_INTEGER, "ffffffffffffff0f"],
];

describe("protobuf wire format", () => {
  for (const [value, bytes] of VARINTS) {
    test(`varint ${value}`, () => {
      const writer = new ProtoWriter();
      writer.varint(value);
      assert.deepEqual(writer.finish(), hex(bytes));
      assert.equal(new ProtoReader(hex(bytes)).varint(), value);
      assert.equal(new ProtoReader(hex(bytes)).signedVarint(), value);
    });
  }

  for (const [value, bytes] of [
    [-1, "ffffffffffffffffff01"],
    [-2, "feffffffffffffffff01"],
    [-(2 ** 31), "80808080f8ffffffff01"],
    [Number.MIN_SAFE_INTEGER, "81808080808080f0ff01"],
  ] as const) {
    test(`signed varint ${value}`, () => {
      const writer = new ProtoWriter();
      writer.varint(value);
      assert.deepEqual(writer.finish(), hex(bytes));
      assert.equal(new ProtoReader(hex(bytes)).signedVarint(), value);
    });
  }

  test("integers go there and back", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const writer = new ProtoWriter();
        writer.varint(value);
        assert.equal(new ProtoReader(writer.finish()).signedVarint(), value);
      }),
      RUNS,
    );
  });

  test("fields of every wire type are found, and skipped", () => {
    const bytes = hex("089601 1203616263 19000000000000f03f 2500004040");
    const reader = new ProtoReader(bytes);
    const found: [number, number | string][] = [];
    for (const read of [() => reader.varint(), () => reader.string(), () => reader.double(), () => reader.float()]) {
      assert.ok(reader.next());
      found.push([reader.fieldNumber, read()]);
    }
    assert.deepEqual(found, [
      [1, 150],
      [2, "abc"],
      [3, 1],
      [4, 3],
    ]);
    assert.equal(reader.next(), false);
    const skipping = new ProtoReader(bytes);
    let fields = 0;
    for (; skipping.next(); fields++) skipping.skip();
    assert.equal(fields, 4);
  });

  for (const [name, bytes, words] of [
    ["a varint without an end", "08ffff", /ends within a varint/],
    ["a varint of eleven bytes", "08ffffffffffffffffffff01", /varint is too long/],
    ["a field past the end", "1205616263", /reaches past its message/],
    ["half a double", "19 0000", /reaches past its message/],
    ["a group", "0b", /wire type 3/],
    ["field number 0", "0001", /field number 0/],
  ] as const) {
    test(`refuses ${name}`, () => {
      const read = (): void => {
        const reader = new ProtoReader(hex(bytes));
        while (reader.next()) reader.skip();
      };
      assert.throws(read, (error) => error instanceof ProtocolError && words.test(error.message));
    });
  }
});

const INNER = message(() => ({ text: [1, "string"], flag: [2, "bool"] }));
const OUTER = message(() => ({
  name: [1, "string"],
  raw: [2, "bytes"],
  count: [3, "int32"],
  big: [4, "int64"],
  ratio: [5, "double"],
  half: [6, "float"],
  shape: [7, "int64", "repeated"],
  inner: [8, INNER],
  list: [9, INNER, "repeated"],
  byName: [10, INNER, "map"],
  kind: [11, { names: ["NONE", "SOME"] }],
  unsigned: [12, "uint64"],
}));

/** The same data as text; -0 apart from 0, infinities and bytes as such. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof Uint8Array) return [...item].join(" ");
    if (typeof item === "number") return Object.is(item, -0) ? "-0" : String(item);
    if (typeof item === "object" && item !== null && !Array.isArray(item))
      return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
    return item;
  });
}

describe("protobuf messages", () => {
  test("go there and back", () => {
    const inner = fc.record({ text: fc.string(), flag: fc.boolean() });
    const whole = fc.record({
      name: fc.string({ unit: "binary" }),
      raw: fc.uint8Array({ maxLength: 300 }),
      count: fc.integer(),
      big: fc.maxSafeInteger(),
      ratio: fc.double({ noNaN: true }),
      half: fc.float({ noNaN: true }),
      shape: fc.array(fc.maxSafeInteger(), { minLength: 1 }),
      inner,
      list: fc.array(inner, { minLength: 1 }),
      byName: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), inner, { minKeys: 1 }),
      kind: fc.constantFrom("NONE", "SOME"),
      unsigned: fc.nat(),
    });
    fc.assert(
      fc.property(whole, (value) => {
        const { name, ...rest } = value;
        const decoded = decodeMessage(OUTER, encodeMessage(OUTER, value));
        const { name: decodedName, byName, ...decodedRest } = decoded;
        // A lone surrogate has no UTF-8.
        if (name.isWellFormed()) assert.equal(decodedName, name);
        const { byName: given, ...others } = rest;
        // fast-check's records have no prototype, which is nothing to compare.
        assert.deepEqual(plain(byName), plain(given));
        assert.deepEqual(plain(decodedRest), plain(others));
      }),
      RUNS,
    );
  });

  test("a repeated number may come packed or one by one", () => {
    for (const bytes of ["3a03 01 02 03", "3801 3802 3803", "3a02 01 02 3803"])
      assert.deepEqual(decodeMessage(OUTER, hex(bytes)), { shape: [1, 2, 3] });
  });

  test("a packed list of a million numbers is read like a short one", () => {
    const shape = Array.from({ length: 1_000_000 }, (_, index) => index % 100);
    assert.equal((decodeMessage(OUTER, encodeMessage(OUTER, { shape }))["shape"] as number[]).length, 1_000_000);
  });

  test("unknown fields are skipped, unknown enum values are numbers", () => {
    assert.deepEqual(decodeMessage(OUTER, hex("a00105 5807 0a0161")), { kind: 7, name: "a" });
  });

  test("a field of the wrong wire type is refused", () => {
    assert.throws(
      () => decodeMessage(OUTER, hex("0801")),
      /^ProtocolError: protobuf field 1 has wire type 0, expected 2$/,
    );
  });

  test("random bytes are messages or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        outcomeOf(() => decodeMessage(OUTER, bytes));
      }),
      RUNS,
    );
  });

  test("text is what DebugString prints", () => {
    const value = {
      name: 'a"b\n',
      raw: latin1("\0\xff"),
      count: 0,
      big: -5,
      shape: [1, 2],
      inner: { text: "x", flag: true },
      byName: { k: { text: "v" } },
    };
    assert.equal(
      formatText(OUTER, value),
      'name: "a\\"b\\n"\nraw: "\\000\\377"\nbig: -5\nshape: 1\nshape: 2\ninner {\n  text: "x"\n  flag: true\n}\nbyName {\n  key: "k"\n  value {\n    text: "v"\n  }\n}\n',
    );
  });
});
