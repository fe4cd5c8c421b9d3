import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { countText, findExtracted } from "../../src/measure/extracted-tally.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { UserError } from "../../src/plan/problem.ts";
import type { RepeatedJson } from "../../src/report/schema/report-schema.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { derived, extracted } from "../../src/scenario/assertions.ts";
import { loadDataScenario } from "../../src/scenario/data/load-data.ts";
import { defineScenario, type Scenario } from "../../src/scenario/define.ts";
import { input } from "../../src/scenario/inputs.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { createFolder, runRampart } from "../cli/rampart-process.ts";
import { writeIn } from "../make-folder.ts";
import { checkSchema } from "../report/check-schema.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";

/** Metrics of a scenario's own, against servers whose outputs are known. */

const COUNT = 20;

async function run(scenario: Scenario): Promise<RunResult> {
  const plan = toPlan(scenario, process.cwd());
  const running = startPlan(plan, { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() });
  return await running.result;
}

/** The text of response number `index`: 1 to 4 words of four letters. Each fifth response is cut off at its length. */
function answerOf(index: number): { readonly words: string[]; readonly finish: string } {
  return { words: Array.from({ length: 1 + (index % 4) }, () => "word"), finish: index % 5 === 0 ? "length" : "stop" };
}

function answerWhole(response: ServerResponse, index: number): void {
  const { words, finish } = answerOf(index);
  const usage = { prompt_tokens: 3, completion_tokens: words.length };
  const choices = [{ index: 0, finish_reason: finish, message: { role: "assistant", content: words.join("") } }];
  response
    .writeHead(200, { "Content-Type": "application/json" })
    .end(JSON.stringify({ object: "chat.completion", choices, usage }));
}

function answerStream(response: ServerResponse, index: number): void {
  const { words, finish } = answerOf(index);
  const event = (data: object): string => `data: ${JSON.stringify({ object: "chat.completion.chunk", ...data })}\n\n`;
  const choice = (content: string, reason: string | null) => ({
    choices: [{ index: 0, delta: { content }, finish_reason: reason }],
  });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const word of words) response.write(event(choice(word, null)));
  response.write(event(choice("", finish)));
  response.write(event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: words.length } }));
  response.end("data: [DONE]\n\n");
}

function refuse(content: string): never {
  throw new Error(content);
}

describe("values of a language model", () => {
  for (const isStreamed of [false, true])
    test(
      `are those of its server, ${isStreamed ? "of a stream what its events give together" : "of its JSON"}`,
      LIMIT,
      async () => {
        using server = await startAnsweringServer(isStreamed ? answerStream : answerWhole);
        const target = openai(server.url, {
          model: "m",
          tokenizer: "none",
          streaming: isStreamed,
          extract: {
            finish: "finish_reason || choices[0].finish_reason",
            tokens: { value: "usage.completion_tokens", unit: "tokens", better: "lower" },
            length: { value: ({ content }) => content.length, unit: "characters" },
            same: ({ usage, finishReason }) => `${usage?.completionTokens} ${finishReason}`,
          },
        });
        const { levels, failedCount } = await run(
          defineScenario({
            name: "x",
            target,
            load: hold(1, { requests: COUNT }),
            inputs: input.prompts({ isl: 3 }),
          }),
        );
        assert.equal(failedCount, 0);
        const window = levels[0]?.window;
        const find = (name: string) => findExtracted(window?.extracted, name);
        const [finish, tokens, length, same] = ["finish", "tokens", "length", "same"].map(find);
        assert.deepEqual([tokens?.unit, tokens?.better, length?.unit], ["tokens", "lower", "characters"]);
        // The client sends some requests before the load; then the responses are in turn.
        const first = server.received.length - COUNT;
        const answers = Array.from({ length: COUNT }, (_, at) => answerOf(first + at));
        const sumOf = (lengths: readonly number[]): number => lengths.reduce((sum, one) => sum + one, 0);
        const words = sumOf(answers.map((one) => one.words.length));
        assert.equal(Math.round((tokens?.numbers.mean ?? 0) * COUNT), words);
        assert.equal(Math.round((length?.numbers.mean ?? 0) * COUNT), 4 * words);
        const cut = answers.filter((one) => one.finish === "length").length;
        assert.ok(finish !== undefined && same !== undefined);
        assert.deepEqual(countText(finish, "length"), { count: cut, total: COUNT });
        assert.deepEqual(countText(finish, "other"), { count: 0, total: COUNT });
        assert.equal(sumOf(same.texts.map(([, count]) => count)), COUNT);
        for (const [text] of same.texts) assert.match(text, /^[1-4] (length|stop)$/);
      },
    );

  test("a function that throws is a failed request with the name of the value", LIMIT, async () => {
    using server = await startAnsweringServer(answerWhole);
    const target = openai(server.url, {
      model: "m",
      tokenizer: "none",
      extract: { bad: ({ content }) => refuse(content) },
    });
    const { failures, completedCount } = await run(
      defineScenario({ name: "x", target, load: hold(1, { requests: 2 }), inputs: input.prompts({ isl: 3 }) }),
    );
    assert.equal(completedCount, 0);
    assert.match(failures[0]?.example ?? "", /^extract\.bad throws: (word)+ \(own-metrics\.test\.ts:\d+\)/);
  });
});

/** Writes two inputs of the model `simple`, whose sums are 3 and 30. */
function writeInputs(folder: string): string {
  const all = (value: number) => Array.from({ length: 16 }, () => value);
  const path = join(folder, "inputs.json");
  const data = [
    { INPUT0: all(1), INPUT1: all(2) },
    { INPUT0: all(10), INPUT1: all(20) },
  ];
  writeFileSync(path, JSON.stringify({ data }));
  return path;
}

describe("values of tensors", () => {
  const targets = {
    "over HTTP": (extract: object) => embedded({ extract }),
    "over gRPC": (extract: object) => embedded({ protocol: "grpc", extract }),
    "in a stream, as the list of responses": (extract: object) =>
      embedded({ protocol: "grpc", streaming: true, extract }),
  };
  for (const [name, make] of Object.entries(targets))
    test(`${name} are those of the model`, LIMIT, async () => {
      using folder = createFolder({});
      const at = name.includes("stream") ? "[-1]." : "";
      const target = make({
        sum: { value: `${at}OUTPUT0[0]`, unit: "points", better: "higher" },
        size: `length(${at}OUTPUT1)`,
        big: `to_string(${at}OUTPUT0[15] > \`10\`)`,
        difference: ({ tensors }: { tensors: Record<string, { values(): readonly unknown[] }> }) =>
          tensors["OUTPUT1"]?.values()[3],
      });
      const { levels, failedCount } = await run(
        defineScenario({
          name: "x",
          target,
          load: hold(1, { requests: COUNT }),
          inputs: input.json(writeInputs(folder.path)),
        }),
      );
      assert.equal(failedCount, 0);
      const find = (value: string) => findExtracted(levels[0]?.window.extracted, value);
      const [sum, size, big, difference] = ["sum", "size", "big", "difference"].map(find);
      assert.deepEqual([sum?.numbers.min, sum?.numbers.max, sum?.numbers.mean], [3, 30, 16.5]);
      assert.deepEqual([size?.numbers.min, size?.numbers.max], [16, 16]);
      assert.deepEqual([difference?.numbers.min, difference?.numbers.max], [-10, -1]);
      assert.ok(big !== undefined);
      assert.deepEqual(countText(big, "true"), { count: COUNT / 2, total: COUNT });
    });
});

/** A scenario whose assertions on its own metrics hold, sent by two threads. */
const SCENARIO = (inputs: string): string => `
import { defineScenario, derived, embedded, extracted, hold, input } from "rampart";
export default defineScenario({
  name: "own",
  target: embedded({
    extract: {
      sum: { value: "OUTPUT0[0]", unit: "points", better: "higher" },
      size: ({ tensors }) => (tensors.OUTPUT0.values()[0] > 10 ? "big" : "small"),
    },
  }),
  load: hold(2, { requests: 40 }),
  inputs: input.json(${JSON.stringify(inputs)}),
  workers: 2,
  derive: {
    pointsPerSec: { value: (level) => level.extracted.sum.mean * level.throughput, unit: "points/s", better: "higher" },
    inFlight: { value: "latency.mean * throughput" },
    perJoule: { value: ({ throughput, gpuEnergy }) => throughput / gpuEnergy, unit: "infer/J" },
  },
  assert: [
    extracted("sum").mean().atLeast(16.5),
    extracted("size").share("big").is("50 %"),
    derived("pointsPerSec").above(1),
  ],
});
`;

test("threads, the report, its tables, its records and a second reading have the same values", LIMIT, async () => {
  using folder = createFolder({});
  const file = writeIn(folder.path, "own.ts", SCENARIO(writeInputs(folder.path)));
  const paths = ["own.json", "own.csv", "own.html", "own.jsonl"].map((name) => join(folder.path, name));
  const [json = "", csv = "", html = "", records = ""] = paths;
  const files = ["--json", json, "--csv", csv, "--html", html, "--records", records];
  const { code, out, err } = await runRampart(["run", file, ...files]);
  assert.equal(code, 0, out + err);
  const [level] = (JSON.parse(readFileSync(json, "utf8")) as { levels: LevelJson[] }).levels;
  assert.ok(level !== undefined);
  assert.deepEqual([level.extracted["sum"]?.unit, level.extracted["sum"]?.better], ["points", "higher"]);
  assert.deepEqual(level.extracted["sum"]?.numbers?.mean, 16.5);
  assert.deepEqual(level.extracted["size"]?.texts, { big: 20, small: 20 });
  const perSec = level.metrics["throughputPerSec"]?.value ?? 0;
  const { pointsPerSec, inFlight, perJoule } = level.derived;
  assert.ok(Math.abs((pointsPerSec?.value ?? 0) - 16.5 * perSec) < 1e-6 * perSec);
  assert.ok((inFlight?.value ?? 0) > 0);
  assert.equal(perJoule?.unit, "infer/J");
  assert.match(perJoule?.missing ?? "", /^gpuEnergy: /);
  for (const text of [out, readFileSync(csv, "utf8"), readFileSync(html, "utf8")]) {
    assert.match(text, /pointsPerSec \(points\/s\)/);
    assert.match(text, /sum \(points\)/);
  }
  assert.match(out, /share of .* 50 % \(20 of 40\)/);
  const lines = readFileSync(records, "utf8").trim().split("\n");
  const sums = lines.map((line) => (JSON.parse(line) as RecordJson).metadata.extracted.sum);
  assert.equal(sums.filter((sum) => sum === 30).length, 20);
  // The report is made again from its JSON, without the functions.
  const again = await runRampart(["report", json]);
  assert.match(again.out, /pointsPerSec \(points\/s\)/, again.err);
  // The better direction decides what a comparison says.
  const document = JSON.parse(readFileSync(json, "utf8")) as object;
  const written = [1000, 1001, 100, 101].map((value) => {
    const changed = { ...level, derived: { ...level.derived, pointsPerSec: { ...pointsPerSec, value } } };
    const path = join(folder.path, `${value}.json`);
    writeFileSync(
      path,
      JSON.stringify({ ...document, startedAt: new Date(value * 1e9).toISOString(), levels: [changed] }),
    );
    return path;
  });
  const sides = ["--base", ...written.slice(0, 2), "--new", ...written.slice(2)];
  const compared = await runRampart(["compare", ...sides, "--fail-if", "derived.pointsPerSec < -5%"]);
  assert.equal(compared.code, 65, compared.out + compared.err);
  assert.match(compared.out, /pointsPerSec .*worse/);
});

interface RecordJson {
  readonly metadata: { readonly extracted: { readonly sum: number } };
}

interface LevelJson {
  readonly metrics: Record<string, { value?: number }>;
  readonly extracted: Record<string, { unit?: string; better?: string; numbers?: { mean: number }; texts?: object }>;
  readonly derived: Record<string, { value?: number; missing?: string; unit?: string }>;
}

test("several runs have the mean of a derived metric", LIMIT, async () => {
  using folder = createFolder({
    "runs.yaml": [
      "name: runs",
      "target: embedded",
      "load: { hold: { concurrency: 1, requests: 20 } }",
      "repeat: 3",
      'derive: { perSec: { value: "`2` * throughput", unit: points/s } }',
    ].join("\n"),
  });
  const json = join(folder.path, "runs.json");
  const { code, out, err } = await runRampart(["run", join(folder.path, "runs.yaml"), "--json", json]);
  assert.equal(code, 0, out + err);
  const { runs, combination } = checkSchema(JSON.parse(readFileSync(json, "utf8"))) as RepeatedJson;
  const values = runs.map(({ levels }) => levels[0]?.derived?.["perSec"]?.value ?? Number.NaN);
  const { count, mean = Number.NaN } = combination.levels[0]?.derived?.["perSec"] ?? {};
  assert.equal(count, 3);
  assert.ok(Math.abs(mean - values.reduce((sum, one) => sum + one, 0) / 3) < 1e-6 * mean, `${mean}: ${values}`);
});

test("a function that returns no number ends the run, and names its metric", LIMIT, async () => {
  const scenario = defineScenario({
    name: "x",
    target: embedded(),
    load: hold(1, { requests: 4 }),
    derive: { wrong: { value: () => "seven" as unknown as number }, right: { value: "throughput" } },
    assert: [derived("right").above(0)],
  });
  const { error, levels } = await run(scenario);
  assert.equal(levels.length, 1, "what was measured stays");
  assert.match(String(error?.text), /^derive\.wrong: returns "seven", not a finite number$/);
});

test("YAML and TypeScript give the same plan", async () => {
  using folder = createFolder({});
  const text = `
name: own
target:
  embedded:
    extract:
      sum: { value: "OUTPUT0[0]", unit: points, better: higher }
      size: "to_string(OUTPUT0[0])"
load: { hold: { concurrency: 2, for: 1 s } }
derive:
  perSec: { value: "extracted.sum.mean * throughput", unit: points/s, better: higher }
assert:
  - extracted.sum.mean >= 3
  - share(extracted.size=3) < 60 %
  - derived.perSec > 1
`;
  const file = writeIn(folder.path, "own.yaml", text);
  const scenario = defineScenario({
    name: "own",
    target: embedded({
      extract: {
        sum: { value: "OUTPUT0[0]", unit: "points", better: "higher" },
        size: "to_string(OUTPUT0[0])",
      },
    }),
    load: hold(2, { for: "1 s" }),
    derive: { perSec: { value: "extracted.sum.mean * throughput", unit: "points/s", better: "higher" } },
    assert: [
      extracted("sum").mean().atLeast(3),
      extracted("size").share("3").below("60 %"),
      derived("perSec").above(1),
    ],
  });
  const plan: Plan = toPlan(scenario, folder.path);
  assert.deepEqual(toPlan(loadDataScenario(file, "own.yaml").scenario, folder.path), plan);
  const [sum, share, perSec] = plan.assertions.map(({ metric }) => metric);
  assert.deepEqual([sum?.unit, sum?.better, share?.unit], ["points", "higher", undefined]);
  assert.deepEqual([perSec?.unit, perSec?.value], ["points/s", "extracted.sum.mean * throughput"]);
});

test("all mistakes with a scenario's own metrics are reported at once", () => {
  const scenario = defineScenario({
    name: "x",
    target: embedded({ extract: { sum: "OUTPUT0[0]" } }),
    load: hold(1, { requests: 4 }),
    derive: { a: { value: "throughputt" }, b: { value: "extracted.summ.mean" } },
    assert: [
      derived("c" as "a").above(0),
      extracted("summ" as "sum")
        .share("x")
        .is(0),
    ],
  });
  assert.throws(
    () => toPlan(scenario, process.cwd()),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(
        error.problems.map(({ path, hint }) => `${String(path)}: ${String(hint).slice(0, 13)}`),
        [
          "assert.0: Use a or b.",
          "assert.1: Use sum.",
          "derive.a.value: Did you mean ",
          "derive.b.value: Write metrics",
        ],
      );
      return true;
    },
  );
});
