import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type ByteSource, JsonScanner } from "../../../src/inputs/json-scanner.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { openProfileExport } from "../../../src/report/read/profile-export.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";

/** Profile exports read as a stream, however their bytes come. */

function sourceOf(text: string | Uint8Array, mostBytes = 1 << 20): ByteSource {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  let offset = 0;
  return {
    read: (into) => {
      const piece = bytes.subarray(offset, offset + Math.min(mostBytes, into.length));
      into.set(piece);
      offset += piece.length;
      return piece.length;
    },
    close: () => {},
  };
}

function open(text: string, mostBytes?: number): ReturnType<typeof openProfileExport> {
  return openProfileExport("run.json", () => sourceOf(text, mostBytes));
}

const EXPORT = `{"experiments" : [{"experiment":{"mode":"concurrency","value":2},"requests":[
  {"timestamp":1795237662030072343,"sequence_id":7,"request_inputs":{"payload":"{\\"a\\":\\"}]\\\\\\"\\"}"},
   "response_timestamps":[1795237662080918103, 1795237662080918104],"response_outputs":[{"response":"é😀\\n\\n"},{"response":""}]},
  {"timestamp":1795237662030072344,"request_inputs":{},"response_timestamps":[],"response_outputs":[]}],
  "window_boundaries":[0,18446744073709551615]},
  {"experiment":{"mode":"request_rate","value":2.5},"requests":[],"window_boundaries":[]}],
  "more":[[{}]],"version":"0.0.0","service_kind":"openai","endpoint":"v1/chat/completions"}`;

for (const mostBytes of [1, 2, 3, 7, 1 << 20]) {
  test(`an export is read whole in pieces of at most ${mostBytes} bytes`, () => {
    const source = open(EXPORT, mostBytes);
    assert.equal(source.serviceKind, "openai");
    assert.equal(source.endpoint, "v1/chat/completions");
    assert.equal(source.version, "0.0.0");
    assert.deepEqual(source.experiments, [
      { mode: "concurrency", value: 2, requestCount: 2, windowBoundariesNs: [0n, 18446744073709551615n] },
      { mode: "request_rate", value: 2.5, requestCount: 0, windowBoundariesNs: [] },
    ]);
    const requests = [...source.requests()];
    assert.deepEqual(requests, [
      {
        experiment: 0,
        timestampNs: 1795237662030072343n,
        sequenceId: 7,
        inputs: { payload: '{"a":"}]\\""}' },
        responseOffsetsNs: [50845760, 50845761],
        responses: [{ response: "é😀\n\n" }, { response: "" }],
      },
      {
        experiment: 0,
        timestampNs: 1795237662030072344n,
        sequenceId: undefined,
        inputs: {},
        responseOffsetsNs: [],
        responses: [],
      },
    ]);
  });
}

test("requests come before the rest of the file is read", () => {
  const request = `{"timestamp":1,"request_inputs":{"payload":"${"x".repeat(50_000)}"},"response_timestamps":[],"response_outputs":[]}`;
  const text = `{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[${Array(100).fill(request).join(",")}],"window_boundaries":[]}],"version":"","service_kind":"openai","endpoint":""}`;
  let readBytes = 0;
  let mostAsked = 0;
  const openCounting = (): ByteSource => {
    const source = sourceOf(text, 64 * 1024);
    return {
      ...source,
      read: (into) => {
        mostAsked = Math.max(mostAsked, into.length);
        const count = source.read(into);
        readBytes += count;
        return count;
      },
    };
  };
  const source = openProfileExport("run.json", openCounting);
  assert.equal(source.experiments[0]?.requestCount, 100);
  readBytes = 0;
  const requests = source.requests();
  requests.next();
  assert.ok(readBytes < 300_000, `${readBytes} bytes were read for the first request`);
  for (const _ of requests);
  assert.ok(mostAsked <= 512 * 1024, `room for ${mostAsked} bytes was made`);
});

test("the file is closed when reading ends early", () => {
  let closed = 0;
  const source = openProfileExport("run.json", () => ({ ...sourceOf(EXPORT), close: () => void closed++ }));
  assert.equal(closed, 1);
  for (const _ of source.requests()) break;
  assert.equal(closed, 2);
});

const faults: readonly (readonly [name: string, text: string, error: RegExp])[] = [
  ["an empty file", "", /^run\.json, byte 0: the file ends too early\./],
  ["no object", "[]", /^run\.json, byte 0: an object is missing\./],
  ["another JSON file", '{"data":[]}', /^run\.json, byte 11: experiments are missing: this is not a profile export/],
  [
    "a file without its end",
    EXPORT.slice(0, 200),
    /^run\.json, experiments\[0\]\.requests, byte 200: the file ends too early/,
  ],
  ["no service kind", '{"experiments":[]}', /service_kind is missing/],
  [
    "no mode",
    '{"experiments":[{"experiment":{}}]}',
    /^run\.json, experiments\[0\]\.experiment, byte \d+: mode is missing/,
  ],
  ["a key without quotes", "{a:1}", /^run\.json, byte 1: a key in quotes is missing/],
  ["a comma too few", '{"a":1 "b":2}', /a comma or a closing brace is missing/],
];

for (const [name, text, error] of faults) {
  test(`${name} is reported with its position`, () => {
    assert.throws(
      () => open(text),
      (thrown) => thrown instanceof UserError && error.test(thrown.message),
    );
  });
}

const requestFaults: readonly (readonly [name: string, request: string, error: RegExp])[] = [
  ["no timestamp", "{}", /^run\.json, experiments\[0\]\.requests\[1\], byte \d+: timestamp is missing/],
  [
    "a timestamp in words",
    '{"timestamp":"now"}',
    /requests\[1\]\.timestamp, byte \d+: a whole number is missing: "now"/,
  ],
  [
    "times without responses",
    '{"timestamp":1,"response_timestamps":[2,3],"response_outputs":[{}]}',
    /there are 2 response_timestamps and 1 response_outputs/,
  ],
  ["an empty time", '{"timestamp":1,"response_timestamps":[2,,3]}', /a whole number is missing/],
  [
    "broken JSON",
    '{"timestamp":1,"request_inputs":{"a"}}',
    /requests\[1\]\.request_inputs, byte \d+: this is not JSON: \{"a"\}/,
  ],
];

for (const [name, request, error] of requestFaults) {
  test(`a request with ${name} is reported with its position`, () => {
    const good = '{"timestamp":1,"response_timestamps":[],"response_outputs":[]}';
    const text = `{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[${good},${request}]}],"service_kind":"openai"}`;
    assert.throws(
      () => [...open(text).requests()],
      (thrown) => thrown instanceof UserError && error.test(thrown.message),
    );
  });
}

test("a missing file is named", () => {
  assert.throws(() => openProfileExport("no/such.json"), /^UserError: no\/such\.json: the file cannot be read: /);
});

test("a real file with a byte order mark is read", () => {
  const folder = makeFolder();
  const path = writeIn(folder, "run.json", `\ufeff${EXPORT}`);
  assert.equal([...openProfileExport(path).requests()].length, 2);
});

test("any JSON value is extracted unchanged, whatever follows", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.jsonValue(),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 2),
      (a, b, bytes, indent) => {
        const scanner = new JsonScanner(sourceOf(JSON.stringify([a, b, { last: a }], null, indent), bytes), "x");
        const found: unknown[] = [];
        for (const index of scanner.items()) {
          if (index === 1) scanner.skip();
          else if (index === 2) for (const key of scanner.members()) found.push(key, scanner.value());
          else found.push(scanner.value());
        }
        const plain = JSON.parse(JSON.stringify(a)) as unknown;
        assert.deepEqual(found, [plain, "last", plain]);
      },
    ),
  );
});
