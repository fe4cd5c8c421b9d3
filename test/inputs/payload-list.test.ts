import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DataOrder } from "../../src/inputs/dataset.ts";
import { packEntries } from "../../src/inputs/held-entries.ts";
import { readPayloadLists } from "../../src/inputs/payload-list.ts";
import { MIXED } from "../../src/inputs/step-streams.ts";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { makeFolder, writeIn } from "../make-folder.ts";

/** Payloads from a file. */

async function withFile<T>(text: string, use: (path: string) => Promise<T>, name = "inputs.json"): Promise<T> {
  const folder = makeFolder();
  const path = writeIn(folder, name, text);
  return await use(path);
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

describe("a file of payloads", () => {
  test("each entry is a step, its payload compact, and no tensors", async () => {
    const text = JSON.stringify({ data: [{ payload: [{ model: "ä", n: 1.5 }] }, { payload: [{}] }] }, undefined, 2);
    const { streams, isFromJson } = await withFile(text, (path) => readPayloadLists([path], "in-turn"));
    const payloads = streams[0]?.map(({ payload }) => payload);
    assert.deepEqual(payloads?.map(textOf), ['{"model":"ä","n":1.5}', "{}"]);
    assert.ok(streams[0]?.every(({ inputs }) => [...inputs.keys()].length === 0));
    assert.equal(isFromJson, true);
  });

  test("with times the steps come in the order in which they are due", async () => {
    const entry = (n: number, timestamp: unknown): object => ({ payload: [{ n }], timestamp });
    const text = JSON.stringify({ data: [entry(1, [30]), entry(2, 10), entry(3, [20.5])] });
    const { streams } = await withFile(text, (path) => readPayloadLists([path], "at-times"));
    assert.deepEqual(
      streams[0]?.map(({ timestampMs, payload }) => [timestampMs, textOf(payload)]),
      [
        [10, '{"n":2}'],
        [20.5, '{"n":3}'],
        [30, '{"n":1}'],
      ],
    );
  });

  test("with sessions each is a stream of its turns, in the order of the first ones, with pauses", async () => {
    const entry = (n: number, session_id: unknown, delay?: unknown): object => ({
      payload: [{ n }],
      session_id,
      delay,
    });
    const entries = [entry(1, ["b"], [5]), entry(2, ["a"], 0), entry(3, ["b"], [1.5]), entry(4, 7), entry(5, ["a"])];
    const { streams } = await withFile(JSON.stringify({ data: entries }), (path) =>
      readPayloadLists([path], "in-sessions"),
    );
    assert.deepEqual(
      streams.map((turns) => turns.map(({ sessionId, delayMs, payload }) => [sessionId, delayMs, textOf(payload)])),
      [
        [
          ["b", 5, '{"n":1}'],
          ["b", 1.5, '{"n":3}'],
        ],
        [
          ["a", 0, '{"n":2}'],
          ["a", undefined, '{"n":5}'],
        ],
        [["7", undefined, '{"n":4}']],
      ],
    );
  });

  test("JSON Lines have a body or an entry each", async () => {
    const text = '{"n":1}\n\n{"payload":[{"n":2}],"timestamp":[5]}\n';
    const { streams } = await withFile(text, (path) => readPayloadLists([path], "in-turn"), "x.jsonl");
    assert.deepEqual(
      streams[0]?.map(({ timestampMs, payload }) => [timestampMs, textOf(payload)]),
      [
        [undefined, '{"n":1}'],
        [5, '{"n":2}'],
      ],
    );
    const problemOf = (lines: string): Promise<string> =>
      withFile(lines, (path) => readPayloadLists([path], "in-turn"), "x.jsonl").then(
        () => "",
        (error: unknown) => (error instanceof UserError ? (error.problems[0]?.path ?? "") : "") + String(error),
      );
    assert.match(await problemOf('{"n":1}\n{'), /x\.jsonl, line 2/);
    assert.match(await problemOf('{"n":1}\n3'), /x\.jsonl, request 1/);
    assert.match(await problemOf("\n"), /has no entries/);
  });

  const wrong: readonly (readonly [text: string, order: DataOrder, messages: readonly RegExp[]])[] = [
    ["{", "in-turn", [/inputs\.json is not JSON/]],
    ["[]", "in-turn", [/has no list 'data'/]],
    ['{"data":[]}', "in-turn", [/has no entries/]],
    ['{"data":[{"payload":{}},{"text":"a"},3]}', "in-turn", [/data\[0\] has no payload/, /data\[1\]/, /data\[2\]/]],
    [
      '{"data":[{"payload":[{}]},{"payload":[{}],"timestamp":[-1]}]}',
      "at-times",
      [/data\[0\] has no timestamp/, /data\[1\]/],
    ],
    [
      '{"data":[{"payload":[{}]},{"payload":[{}],"session_id":["a"],"delay":[-1]},{"payload":[{}],"session_id":[""]}]}',
      "in-sessions",
      [/data\[0\] has no session_id/, /data\[1\] has a delay that is not a time/, /data\[2\] has no session_id/],
    ],
  ];
  for (const [text, order, messages] of wrong) {
    test(`refused, everything at once: ${text}`, async () => {
      const error = await withFile(text, (path) => readPayloadLists([path], order)).then(
        () => assert.fail("it was read"),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof UserError);
      const told = error.problems.map(({ path, message }) => `${path} ${message}`);
      assert.equal(told.length, messages.length);
      for (const [index, message] of messages.entries()) assert.match(told[index] ?? "", message);
    });
  }

  test("a file that is not there is named", async () => {
    await assert.rejects(readPayloadLists(["nowhere.json"], "in-turn"), /nowhere\.json.*cannot be read/s);
  });
});

describe("a file that is too large to be held", () => {
  /** All that a run asks of the data, once held and once stored. */
  async function readBoth(path: string, order: DataOrder): Promise<[held: unknown, stored: unknown]> {
    const both = [Number.POSITIVE_INFINITY, 10].map(async (maxHeldBytes) => {
      const { streams, isStored } = await readPayloadLists([path], order, undefined, maxHeldBytes);
      assert.equal(isStored, maxHeldBytes === 10 ? true : undefined);
      return streams.map((steps) =>
        steps.map(({ payload, expected, timestampMs, sessionId, delayMs }) => ({
          ...{ expected, timestampMs, sessionId, delayMs },
          text: textOf(payload),
        })),
      );
    });
    return (await Promise.all(both)) as [unknown, unknown];
  }

  const long = "y".repeat(300_000);
  const entry = (n: number): object => ({
    payload: [{ n, text: n === 2 ? long : "ä}" }],
    timestamp: [10 * (5 - n)],
    session_id: [`s${n % 2}`],
    delay: [n],
  });
  const entries = [1, 2, 3, 4].map(entry);

  for (const order of ["in-turn", "at-times", "in-sessions"] as const)
    test(`gives the same steps, ${order}`, async () => {
      const texts = {
        "inputs.json": JSON.stringify({ version: [1], data: entries }, undefined, 2),
        "inputs.jsonl": entries.map((one) => JSON.stringify(one)).join("\n"),
      };
      for (const [name, text] of Object.entries(texts)) {
        const [held, stored] = await withFile(text, (path) => readBoth(path, order), name);
        assert.deepEqual(stored, held);
      }
    });

  test("lines may be bodies alone, and empty", async () => {
    const [held, stored] = await withFile('{"a":1}\n\n{"b":"ü"}\n', (path) => readBoth(path, "in-turn"), "x.jsonl");
    assert.deepEqual(stored, held);
  });

  test("lines may be longer than what is read at once, and the last needs no end", async () => {
    const lines = [10, 600_000, 3, 262_144, 262_143, 1].map((length) => JSON.stringify({ a: "ü".repeat(length) }));
    for (const end of ["", "\n", "\r\n\n"]) {
      const [held, stored] = await withFile(lines.join("\n") + end, (path) => readBoth(path, "in-turn"), "x.jsonl");
      assert.deepEqual(stored, held);
    }
  });

  test("faults name their place", async () => {
    const read = (text: string, name?: string): Promise<unknown> =>
      withFile(text, (path) => readPayloadLists([path], "in-turn", undefined, 0), name);
    await assert.rejects(read('{"data": [{"payload": [{}]}, {"timestamp": [1]}]}'), (error: UserError) =>
      /data\[1\]/.test(word(error.problems[0]?.path ?? "")),
    );
    await assert.rejects(read('{"data": [{"payload": [{}]}'), (error: UserError) =>
      /byte 27/.test(word(error.problems[0]?.path ?? "")),
    );
    await assert.rejects(read('{"date": []}'), (error: UserError) =>
      /no list 'data'/.test(word(error.problems[0]?.message ?? "")),
    );
    await assert.rejects(read('{"data": []}'), (error: UserError) =>
      /no entries/.test(word(error.problems[0]?.message ?? "")),
    );
    await assert.rejects(read('{"a":1}\n{"b"\n', "x.jsonl"), (error: UserError) =>
      /line 2/.test(word(error.problems[0]?.path ?? "")),
    );
  });
});

describe("nothing of a file is left out in silence", () => {
  const A = { n: "A" };
  const B = { n: "B" };
  const one = { payload: [A] };

  /** The refusals and streams of the real perf_analyzer 2.60.0, without a load that follows the data. */
  const cases: readonly (readonly [name: string, file: object, expected: RegExp | readonly (readonly string[])[]])[] = [
    [
      "two bodies",
      { data: [one, { payload: [A, B] }] },
      /data\[1\]\.payload: JSON format does not yet support multiple/,
    ],
    ["three bodies", { data: [{ payload: [A, B, 3] }] }, /data\[0\]\.payload: JSON format does not yet support/],
    ["no body", { data: [{ payload: [] }] }, /data\[0\]: has no payload/],
    ["a number as body", { data: [{ payload: [3] }] }, /data\[0\]: has no payload/],
    ["an object instead of a list", { data: [{ payload: A }] }, /data\[0\]: has no payload/],
    ["a number as a field", { data: [{ payload: [A], 123: 1 }] }, /data\[0\]: The input or output '123' is not found/],
    ["validation_data", { data: [one], validation_data: [{ x: [1] }] }, /validation_data: only responses of tensors/],
    ["validation_data in front", { validation_data: [], data: [one] }, /validation_data: only responses of tensors/],
    ["an unknown field", { data: [one, { ...one, foo: [1] }] }, /data\[1\]: The input or output 'foo' is not found/],
    [
      "a mistyped field",
      { data: [{ ...one, paylod: [B] }] },
      /data\[0\]: .*'paylod' is not found.*Did you mean payload/,
    ],
    ["a time that no load follows", { data: [{ ...one, timestamp: [5] }] }, /data\[0\]: .*'timestamp' is not found/],
    ["a session that no load follows", { data: [{ ...one, session_id: ["a"], delay: [1] }] }, /'session_id'.*'delay'/s],
    ["the model's name", { data: [{ ...one, model: "m" }] }, [["A"]]],
    ["another key beside data", { version: 1, data: [one] }, [["A"]]],
    ["a stream", { data: [[one, { payload: [B] }]] }, [["A", "B"]]],
    ["streams", { data: [[one, { payload: [B] }], [{ payload: [{ n: "C" }] }]] }, [["A", "B"], ["C"]]],
    ["an entry after a stream", { data: [[one], one] }, new RegExp(`data\\[1\\]: ${MIXED}`)],
    ["a stream after an entry", { data: [one, [one]] }, new RegExp(`data\\[1\\]: ${MIXED}`)],
    ["an empty stream", { data: [[one], []] }, /data\[1\]: is a stream without entries/],
    ["a wrong entry of a stream", { data: [[one, { ...one, foo: 1 }]] }, /data\[0\]\[1\]: .*'foo'/],
  ];
  for (const [name, file, expected] of cases)
    for (const maxHeldBytes of [undefined, 0])
      test(`${name}, ${maxHeldBytes === 0 ? "stored" : "held"}`, async () => {
        const read = withFile(JSON.stringify(file), (path) =>
          readPayloadLists([path], "in-turn", undefined, maxHeldBytes, { allowsLoadFields: false }).then(
            ({ streams }) =>
              streams.map((steps) => steps.map(({ payload }) => (JSON.parse(textOf(payload)) as { n: string }).n)),
          ),
        );
        if (expected instanceof RegExp) await assert.rejects(read, expected);
        else assert.deepEqual(await read, expected);
      });

  test("a time that no load follows is allowed where the rules say so, and in data that this process wrote", async () => {
    const text = '{"data":[{"payload":[{}],"timestamp":[5],"session_id":["a"]}]}';
    await withFile(text, (path) => readPayloadLists([path], "in-turn"));
    const held = packEntries([{ payload: new TextEncoder().encode("{}"), fields: { timestamp: [5] } }]);
    const { streams } = await readPayloadLists(["nowhere"], "in-turn", held, undefined, { allowsLoadFields: false });
    assert.equal(streams[0]?.length, 1);
  });

  test("sessions and times may be in streams", async () => {
    const entry = (n: number): object => ({ payload: [{ n }], timestamp: [9 - n], session_id: [`${n % 2}`] });
    const text = JSON.stringify({ data: [[entry(1), entry(2)], [entry(3)]] });
    const numbers = (order: DataOrder): Promise<string[][]> =>
      withFile(text, async (path) =>
        (await readPayloadLists([path], order)).streams.map((steps) => steps.map(({ payload }) => textOf(payload))),
      );
    assert.deepEqual(await numbers("in-sessions"), [['{"n":1}', '{"n":3}'], ['{"n":2}']]);
    assert.deepEqual(await numbers("at-times"), [['{"n":2}', '{"n":1}'], ['{"n":3}']]);
  });
});

describe("tags of entries", () => {
  const text = '{"data":[{"payload":[{}],"tags":{"length":"long","n":7}},{"payload":[{}]}]}';
  const lines = '{"payload":[{}],"tags":{"length":"long","n":7}}\n{"tags":"of a body"}\n';

  for (const [name, content, file] of [
    ["JSON", text, "x.json"],
    ["JSON Lines", lines, "x.jsonl"],
  ] as const)
    for (const maxHeldBytes of [undefined, 0])
      test(`${name}, ${maxHeldBytes === 0 ? "stored" : "held"}: are read where they are wanted, and refused elsewhere`, async () => {
        const read = (readsTags: boolean) => (path: string) =>
          readPayloadLists([path], "in-turn", undefined, maxHeldBytes, { readsTags });
        const { streams, hasTags } = await withFile(content, read(true), file);
        assert.deepEqual(
          [streams[0]?.map(({ tags }) => tags), hasTags],
          [[{ length: "long", n: "7" }, undefined], true],
        );
        await assert.rejects(withFile(content, read(false), file), /'tags' is not found/);
      });

  for (const wrong of ['"long"', '["long"]', '{"a":["b"]}', '{"target":"x"}', '{"":"x"}'])
    test(`${wrong} are none`, async () => {
      const content = `{"data":[{"payload":[{}],"tags":${wrong}}]}`;
      const read = (path: string) => readPayloadLists([path], "in-turn", undefined, undefined, { readsTags: true });
      await assert.rejects(
        withFile(content, read),
        /data\[0\]: has tags that are not an object of texts, numbers or booleans.*"tags": \{"length": "long"\}/s,
      );
    });
});
