import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { makeFolder, writeIn } from "../make-folder.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import {
  type AnsweringKserve,
  DOORS,
  type Door,
  encodeAnswer,
  goodAnswers,
  startGrpc,
  startHttp,
} from "./answering-kserve.ts";
import { fewerRuns, mutate, mutations } from "./bounds.ts";
import { assertEndsWell, CODES, type Ended, runDoor } from "./command.ts";
import { DEEP_LIST, DEEP_OBJECT, oddJson } from "./odd-json.ts";

/** Servers whose metadata, configuration and statistics are odd: a run or one clear error, never an internal one. */

const good = goodAnswers();

/** Metadata with one input of this shape and type, whose name is given as JSON. */
function input(shape: string, datatype = "FP32", name = '"IN"'): string {
  return `{"name":"m","inputs":[{"name":${name},"datatype":"${datatype}","shape":${shape}}],"outputs":[]}`;
}

const config = (fields: object): string => JSON.stringify({ ...good.config, ...fields });

/** Each was an internal error, a hang or accepted once. */
const NAMED: readonly (readonly [name: string, door: Door, answer: string, said: RegExp | 0])[] = [
  ["metadata that is a number", "metadata", "5", /model metadata is 5, expected an object/],
  ["metadata without a name", "metadata", "{}", /model metadata\.name is nothing, expected a string/],
  ["an unknown datatype", "metadata", input("[2]", "FP8"), /tensor 'IN' has the unknown datatype 'FP8', expected BOOL/],
  ["a datatype every object has", "metadata", input("[2]", "toString"), /unknown datatype 'toString'/],
  ["a datatype called __proto__", "metadata", input("[2]", "__proto__"), /unknown datatype '__proto__'/],
  ["sizes as text, as protobuf's JSON has them", "metadata", input('["2","3"]'), 0],
  ["sizes that are no numbers", "metadata", input('["x"]'), /inputs\[0\]\.shape has "x", expected integers/],
  ["half a size", "metadata", input("[2.5]"), /shape has 2\.5, expected integers of -1 or more/],
  ["a size below -1", "metadata", input("[-2]"), /shape has -2, expected integers of -1 or more/],
  ["an input of terabytes", "metadata", input("[1000000000000]"), /takes 4000000000000 bytes, more than/],
  ["terabytes of strings", "metadata", input("[1000000000000]", "BYTES"), /more than the 2147483647/],
  ["sizes without end", "metadata", input("[1e300,1e300]"), /more than the 2147483647/],
  ["a size nested 100,000 deep", "metadata", input(DEEP_LIST), /shape has \[/],
  ["an input called __proto__", "metadata", input("[2]", "FP32", '"__proto__"'), 0],
  ["an input called constructor that varies", "metadata", input("[-1]", "FP32", '"constructor"'), /dynamic shape/],
  [
    "two inputs of one name",
    "metadata",
    input("[2]").replace("[{", `[{"name":"IN","datatype":"FP32","shape":[1]},{`),
    /two tensors called 'IN'/,
  ],
  ["a model's name that is half a character", "metadata", JSON.stringify(good.metadata).replace('"m"', '"\\ud800"'), 0],
  ["a batch size as text", "config", config({ max_batch_size: "8" }), 0],
  [
    "a batch size below zero",
    "config",
    config({ max_batch_size: -1 }),
    /max_batch_size is -1, expected an integer of 0/,
  ],
  [
    "a step that is no object",
    "config",
    config({ ensemble_scheduling: { step: [5] } }),
    /step\[0\] is 5, expected an object/,
  ],
  ["a configuration nested 100,000 deep", "config", `{"max_batch_size":${DEEP_OBJECT}}`, /max_batch_size is \{"a"/],
  ["counters as text", "statistics", JSON.stringify(good.statistics).replaceAll(":0", ':"0"'), 0],
  [
    "a counter below zero",
    "statistics",
    JSON.stringify(good.statistics).replace(":0", ":-5"),
    /is -5, expected an integer/,
  ],
  ["statistics that are a list", "statistics", "[]", /model statistics is \[\], expected an object/],
  [
    "extensions that are no list",
    "server",
    '{"extensions":{}}',
    /server metadata\.extensions is \{\}, expected a list/,
  ],
];

describe("fuzz: responses of a KServe server over HTTP", () => {
  let server: AnsweringKserve<string>;
  before(async () => {
    server = await startHttp();
  });
  after(() => server.stop());

  const ask = (answers: AnsweringKserve<string>["answers"]): Promise<Ended> => {
    server.answers = answers;
    return runDoor(["perf_analyzer", "-m", "m", "-u", server.url, "--request-count", "1"]);
  };

  for (const [name, door, answer, said] of NAMED) {
    test(name, LIMIT, async () => {
      const ended = await ask({ [door]: answer });
      assertEndsWell(ended, CODES.perfAnalyzer, answer);
      if (said === 0) assert.equal(ended.code, 0, ended.err);
      else {
        assert.equal(ended.code, 99, ended.out);
        assert.match(ended.err, said);
      }
    });
  }

  for (const door of DOORS) {
    // Counters that stand still are waited for.
    const divisor = door === "statistics" ? 60 : 6;
    test(`any ${door} is measured or refused`, LIMIT, async () => {
      await fc.assert(
        fc.asyncProperty(oddJson(good[door]), async (answer) => {
          assertEndsWell(await ask({ [door]: answer }), CODES.perfAnalyzer, answer);
        }),
        fewerRuns(divisor),
      );
    });
  }
});

describe("fuzz: responses of a KServe server over gRPC", () => {
  let server: AnsweringKserve<Uint8Array>;
  before(async () => {
    server = await startGrpc();
  });
  after(() => server.stop());

  const ask = (answers: AnsweringKserve<Uint8Array>["answers"]): Promise<Ended> => {
    server.answers = answers;
    return runDoor(["perf_analyzer", "-i", "grpc", "-m", "m", "-u", server.url, "--request-count", "1"]);
  };

  test("a size below -1 and an unknown datatype are refused by name", LIMIT, async () => {
    for (const [field, value, said] of [
      ["shape", [-9], /shape has -9/],
      ["datatype", "x", /unknown datatype 'x'/],
    ] as const) {
      const tensor = { name: "IN", datatype: "FP32", shape: [2], [field]: value };
      const ended = await ask({ metadata: encodeAnswer("metadata", { name: "m", inputs: [tensor] }) });
      assertEndsWell(ended, CODES.perfAnalyzer, field);
      assert.match(ended.err, said);
    }
  });

  for (const door of DOORS) {
    test(`any message of ${door} is measured or refused`, LIMIT, async () => {
      const message = encodeAnswer(door, good[door]);
      await fc.assert(
        fc.asyncProperty(fc.oneof(mutations(), fc.uint8Array({ maxLength: 60 })), async (odd) => {
          const bytes = odd instanceof Uint8Array ? odd : mutate(message, odd as never);
          assertEndsWell(await ask({ [door]: bytes }), CODES.perfAnalyzer, Buffer.from(bytes).toString("hex"));
        }),
        fewerRuns(door === "statistics" ? 60 : 10),
      );
    });
  }
});

test("an OpenAI server's error nested 100,000 deep is a failure with its reason", LIMIT, async () => {
  using server = await startAnsweringServer((response) => response.writeHead(500).end(`{"error":${DEEP_OBJECT}}`));
  const folder = makeFolder();
  const input = writeIn(folder, "in.json", '{"data":[{"payload":[{"model":"m"}]}]}');
  const args = "perf_analyzer -m m --service-kind openai --endpoint v1/chat/completions --async --request-count 1";
  const ended = await runDoor([...args.split(" "), "--input-data", input, "-u", server.url]);
  assertEndsWell(ended, [99], "an error");
  assert.match(ended.err, /\{"a":\{"a"/);
});
