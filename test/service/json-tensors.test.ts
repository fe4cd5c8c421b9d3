import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  fromJsonElements,
  joinBytesElements,
  splitBytesElements,
  toJsonElements,
} from "../../src/service/json-tensors.ts";
import { formatJsonDouble } from "../../src/service/lossless-json.ts";
import { DATATYPES, type Datatype, elementBytes } from "../../src/service/tensor.ts";
import { RUNS } from "../fuzz/bounds.ts";
import { hex, utf8 } from "../transport/bytes.ts";

const CASES: readonly (readonly [datatype: Datatype, bytes: string, json: readonly string[]])[] = [
  ["BOOL", "00 01", ["false", "true"]],
  ["UINT8", "00 ff", ["0", "255"]],
  ["UINT16", "0000 ffff", ["0", "65535"]],
  ["UINT32", "00000000 ffffffff", ["0", "4294967295"]],
  ["UINT64", "ffffffffffffffff 0100000000002000", ["18446744073709551615", "9007199254740993"]],
  ["INT8", "80 7f", ["-128", "127"]],
  ["INT16", "0080 ff7f", ["-32768", "32767"]],
  ["INT32", "00000080 ffffff7f", ["-2147483648", "2147483647"]],
  ["INT64", "0000000000000080 ffffffffffffff7f", ["-9223372036854775808", "9223372036854775807"]],
  ["FP32", "0000803f 000080bf 00000000", ["1.0", "-1.0", "0.0"]],
  ["FP64", "000000000000f03f 9a9999999999b93f", ["1.0", "0.1"]],
  ["BYTES", "02000000 6162 00000000", ['"ab"', '""']],
];

describe("tensors in JSON", () => {
  test("BYTES that are not UTF-8 have no JSON form; a byte order mark is kept", () => {
    assert.equal(toJsonElements("BYTES", hex("01000000 ff")), undefined);
    assert.deepEqual(toJsonElements("BYTES", hex("04000000 efbbbf61")), ['"\ufeffa"']);
  });

  for (const [datatype, bytes, json] of CASES) {
    test(`${datatype} elements are written as ${json.join(", ")}`, () => {
      assert.deepEqual(toJsonElements(datatype, hex(bytes)), json);
    });

    test(`${datatype} elements are read back`, () => {
      const elements = json.map((text): unknown => (/^-?\d+$/.test(text) ? BigInt(text) : JSON.parse(text)));
      assert.deepEqual(fromJsonElements(datatype, elements), hex(bytes));
    });
  }

  for (const datatype of ["FP16", "BF16"] as const) {
    test(`${datatype} has no JSON form in the protocol, and is read from numbers`, () => {
      assert.equal(toJsonElements(datatype, new Uint8Array(4)), undefined);
      assert.deepEqual(fromJsonElements(datatype, [1]), hex(datatype === "FP16" ? "003c" : "803f"));
    });
  }

  for (const [datatype, elements] of [
    ["INT32", ["1"]],
    ["INT32", [null]],
    ["INT64", [1.5]],
    ["BYTES", [1]],
    ["FP32", [{}]],
  ] as const) {
    test(`${JSON.stringify(elements)} does not fit ${datatype}`, () => {
      assert.equal(fromJsonElements(datatype, elements), undefined);
    });
  }

  test("BYTES elements go there and back, and lengths that do not add up are seen", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.integer({ min: 1, max: 3 }), (elements, extra) => {
        const joined = joinBytesElements(elements);
        assert.deepEqual(splitBytesElements(joined), elements);
        assert.equal(splitBytesElements(new Uint8Array([...joined, ...new Uint8Array(extra)])), undefined);
      }),
      RUNS,
    );
    assert.deepEqual(splitBytesElements(utf8("")), []);
  });

  test("every datatype knows its size", () => {
    assert.deepEqual(
      DATATYPES.map((datatype) => elementBytes(datatype)),
      [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, -1],
    );
  });
});

describe("numbers as RapidJSON writes them", () => {
  for (const [value, text] of [
    [0, "0.0"],
    [-0, "-0.0"],
    [1, "1.0"],
    [0.1, "0.1"],
    [1e21, "1e21"],
    [1.5e300, "1.5e300"],
    [1e-7, "1e-7"],
    [Number.NaN, "null"],
    [Number.POSITIVE_INFINITY, "null"],
  ] as const) {
    test(text, () => {
      assert.equal(formatJsonDouble(value), text);
    });
  }

  test("every double is the same when read back", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.ok(Object.is(JSON.parse(formatJsonDouble(value)), value));
      }),
      RUNS,
    );
  });
});
