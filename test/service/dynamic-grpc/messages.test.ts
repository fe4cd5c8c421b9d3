import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { UserError } from "../../../src/plan/problem.ts";
import { encodeMessageJson } from "../../../src/service/dynamic-grpc/json-to-message.ts";
import { decodeToJson } from "../../../src/service/dynamic-grpc/message-to-json.ts";
import { findMethod, findMethods } from "../../../src/service/dynamic-grpc/methods.ts";
import { readProtoFiles } from "../../../src/service/dynamic-grpc/proto-files.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";

/** `.proto` files, and messages from and to protobuf's JSON mapping. */

const folder = makeFolder();

const PROTO = `
syntax = "proto3";
package all.types;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/wrappers.proto";
enum Color { RED = 0; DARK_BLUE = 1; }
message All {
  string my_text = 1; int64 big = 2; uint64 huge = 3; sint32 small = 4; bytes raw = 5; bool flag = 6; double ratio = 7;
  repeated Color colors = 8; map<string, int32> counts = 9; map<int64, All> nested = 10;
  oneof choice { string left = 11; int32 right = 12; }
  optional int32 maybe = 13; All child = 14; repeated float list = 15; Color color = 16;
  google.protobuf.Timestamp at = 17; google.protobuf.Duration lasts = 18; google.protobuf.Struct any = 19;
  google.protobuf.Int32Value wrapped = 20; google.protobuf.Value value = 21;
}
service Calls {
  rpc One(All) returns (All);
  rpc Up(stream All) returns (All);
  rpc Down(All) returns (stream All);
  rpc Both(stream All) returns (stream All);
}`;
const file = writeIn(folder, "all.proto", PROTO);
const root = readProtoFiles([file], []);
const type = (findMethod(root, "all.types.Calls/One") ?? assert.fail()).requestType;

function encode(value: unknown): Uint8Array {
  const encoded = encodeMessageJson(type, value);
  return "bytes" in encoded ? encoded.bytes : assert.fail(JSON.stringify(encoded.problems));
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The fields of a decoded message that differ from an empty one. */
function decode(bytes: Uint8Array): unknown {
  const empty = decodeToJson(type, new Uint8Array(0)) as Record<string, unknown>;
  const shown = Object.entries(decodeToJson(type, bytes) as Record<string, unknown>);
  return Object.fromEntries(shown.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(empty[name])));
}

describe("a message in JSON", () => {
  const good: readonly (readonly [name: string, given: object, bytes: string | undefined, shown?: object])[] = [
    ["a field by its name", { my_text: "x" }, "0a0178"],
    ["a field in camel case", { myText: "x" }, "0a0178", { my_text: "x" }],
    ["no field with its default", { my_text: "", big: 0, flag: false, color: "RED" }, "", {}],
    ["an optional field with its default", { maybe: 0 }, "6800"],
    ["a 64-bit integer as text", { big: "9223372036854775807" }, "10ffffffffffffffff7f"],
    [
      "a 64-bit integer as a bigint",
      { huge: 18446744073709551615n },
      "18ffffffffffffffffff01",
      { huge: "18446744073709551615" },
    ],
    ["a negative number", { small: -3 }, "2005"],
    ["bytes in Base64", { raw: "AAEC" }, "2a03000102"],
    ["enums by name and by number", { colors: ["DARK_BLUE", 0] }, "42020100", { colors: ["DARK_BLUE", "RED"] }],
    ["a map", { counts: { a: 1 } }, "4a050a01611001"],
    ["a map with 64-bit keys", { nested: { "5": { left: "z" } } }, "5207080512035a017a"],
    ["a choice", { right: 7 }, "6007"],
    ["a message in a message", { child: { child: {} } }, "72027200"],
    ["a time", { at: "1970-01-01T00:00:01.500Z" }, "8a010808011080cab5ee01", { at: "1970-01-01T00:00:01.5Z" }],
    ["a duration", { lasts: "-1.5s" }, undefined],
    ["any JSON", { any: { a: [1, null, { b: "x" }], t: true } }, undefined],
    ["a wrapped number", { wrapped: 5 }, "a201020805"],
    ["null for a field without it", { my_text: null, child: null }, "", {}],
    ["null as a value", { value: null }, "aa01020800", { value: null }],
  ];
  for (const [name, given, bytes, shown = given] of good)
    test(`may have ${name}`, () => {
      const encoded = encode(given);
      if (bytes !== undefined) assert.equal(hex(encoded), bytes);
      const back = decode(encoded) as Record<string, unknown>;
      if (name.startsWith("a map with"))
        assert.equal((back["nested"] as Record<string, { left: string }>)["5"]?.left, "z");
      else if (name === "a message in a message") assert.ok("child" in (back["child"] as object));
      else assert.deepEqual(back, shown);
    });

  test("is refused with all that is wrong, each with its place and what exists", () => {
    const encoded = encodeMessageJson(type, {
      nope: 1,
      my_txt: "x",
      big: 1.5,
      small: 2147483648,
      huge: -1,
      raw: "%%",
      flag: "yes",
      ratio: "x",
      colors: ["GREEN"],
      counts: [],
      left: "a",
      right: 1,
      child: { child: 3 },
      list: 1,
      at: "yesterday",
      lasts: "soon",
    });
    const problems = "problems" in encoded ? encoded.problems.map(({ path, message }) => `${path} ${message}`) : [];
    for (const expected of [
      /^nope is not a field of all\.types\.All: its fields are my_text, big/,
      /^my_txt is not a field .*: did you mean my_text\?$/,
      /^big must be a whole number, and is 1\.5$/,
      /^small must be from -2147483648 to 2147483647 \(sint32\)/,
      /^huge must be from 0 to 18446744073709551615/,
      /^raw must be bytes in Base64/,
      /^flag must be true or false/,
      /^ratio must be a number/,
      /^colors\[0\] must be one of RED, DARK_BLUE/,
      /^counts must be an object \(a map\)/,
      /^right cannot be set together with left: only one of choice can$/,
      /^child\.child must be an object \(a message all\.types\.All\)/,
      /^list must be a list/,
      /^at must be a time such as/,
      /^lasts must be a duration such as/,
    ])
      assert.ok(
        problems.some((one) => expected.test(one)),
        `${expected} in\n${problems.join("\n")}`,
      );
    assert.equal(problems.length, 15);
  });

  test("comes back from its bytes", () => {
    const message = fc.record(
      {
        my_text: fc.string({ minLength: 1 }),
        big: fc.maxSafeInteger().filter((value) => value !== 0),
        raw: fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes).toString("base64")),
        flag: fc.constant(true),
        ratio: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value !== 0),
        colors: fc.array(fc.constantFrom("RED", "DARK_BLUE"), { minLength: 1 }),
        counts: fc.dictionary(fc.string({ minLength: 1 }), fc.integer(), { minKeys: 1, noNullPrototype: true }),
        maybe: fc.integer(),
      },
      { requiredKeys: [], noNullPrototype: true },
    );
    fc.assert(
      fc.property(message, (given) => {
        assert.deepEqual(decode(encode(given)), given);
      }),
      { numRuns: 100 },
    );
  });

  test("that is cut short is not a message", () => {
    assert.throws(() => decodeToJson(type, Uint8Array.of(10, 5, 1)), /not a all\.types\.All/);
  });
});

describe("a .proto file", () => {
  test("gives the methods with their types of calls", () => {
    assert.deepEqual(
      findMethods(root).map(({ name, callType }) => [name, callType]),
      [
        ["all.types.Calls/Both", "bidi-stream"],
        ["all.types.Calls/Down", "server-stream"],
        ["all.types.Calls/One", "unary"],
        ["all.types.Calls/Up", "client-stream"],
      ],
    );
  });

  test("may import files from folders of imports, from its own and from those above", async () => {
    await mkdir(join(folder, "deep", "api"), { recursive: true });
    await mkdir(join(folder, "vendor"), { recursive: true });
    const main = join(folder, "deep", "api", "main.proto");
    const imports = 'import "api/part.proto"; import "other.proto";';
    await writeFile(main, `syntax = "proto3"; package a; ${imports} service S { rpc M(Part) returns (Other); }`);
    await writeFile(
      join(folder, "deep", "api", "part.proto"),
      'syntax = "proto3"; package a; message Part { int32 x = 1; }',
    );
    await writeFile(join(folder, "vendor", "other.proto"), 'syntax = "proto3"; package a; message Other {}');
    assert.equal(findMethod(readProtoFiles([main], [join(folder, "vendor")]), "a.S/M")?.callType, "unary");
    assert.equal(
      findMethod(readProtoFiles(["main.proto"], [join(folder, "deep/api"), join(folder, "vendor")]), "a.S/M")?.name,
      "a.S/M",
    );
    assert.throws(
      () => readProtoFiles([main], []),
      /main\.proto: imports other\.proto, which is in no folder of imports/,
    );
  });

  const broken: readonly (readonly [name: string, text: string | undefined, expected: RegExp])[] = [
    ["does not exist", undefined, /there is no such file \(got .*broken-0\.proto\)/],
    ["is not valid", 'syntax = "proto3"; message {', /broken-1\.proto: is not valid: .*line 1/],
    ["lacks a type", 'syntax = "proto3"; message A { Missing m = 1; }', /a type is missing: .*Missing/],
  ];
  for (const [index, [name, text, expected]] of broken.entries())
    test(`that ${name} is refused with its name`, async () => {
      const path = join(folder, `broken-${index}.proto`);
      if (text !== undefined) await writeFile(path, text);
      assert.throws(
        () => readProtoFiles([path], []),
        (error: unknown) => error instanceof UserError && expected.test(error.message),
      );
    });
});
