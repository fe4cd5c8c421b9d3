import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AnswerPacker, type PackedAnswer, type PackedFailure } from "../../../src/measure/tokens/packed-answers.ts";
import { TokenMeter } from "../../../src/measure/tokens/token-meter.ts";
import {
  MeterDesk,
  type MeteredRun,
  type RequestFile,
  startTokenThread,
  type TokenTask,
} from "../../../src/measure/tokens/token-thread.ts";
import { RunError, UserError } from "../../../src/plan/problem.ts";
import type { TokensPlan } from "../../../src/plan/tokens.ts";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { makePlan } from "../../plan/make-plan.ts";

const LIMIT = { timeout: 180_000 };
const TINY = fileURLToPath(new URL("../../tokenize/fixtures/tiny", import.meta.url));
const TOKENS: TokensPlan = { answers: "chat", isStreamed: true, tokenizer: TINY, revision: "main" };
const RUN: MeteredRun = { plan: TOKENS, recordsFile: "", model: "m", originEpochNs: 0n, startEpochNs: 0n };

const encoder = new TextEncoder();
const PROMPT = encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two three" }] }));

/** An answer of several events, one per millisecond. */
function answer(...texts: string[]): PackedAnswer {
  const events = texts.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  const offsetsNs = texts.map((_, index) => (10 + index) * 1e6);
  return { step: 0, sequenceId: 0, sendNs: 0, offsetsNs, bodies: events.map((text) => encoder.encode(text)) };
}

const FAILURE: PackedFailure = {
  step: 0,
  sequenceId: 0,
  sendNs: 1,
  firstByteNs: Number.NaN,
  endNs: 2,
  responseCount: 0,
  failure: { kind: "closed", message: "closed" },
};

function addAnswers(answers: AnswerPacker): void {
  answers.addPrompt(0, PROMPT);
  answers.addAnswer(answer("the", " end"));
  answers.addAnswer(answer("a", " longer", " answer"));
}

describe("a thread that measures tokens", () => {
  test("gives the numbers that a meter in this thread gives, level by level", LIMIT, async () => {
    const { link, close } = await startTokenThread(TOKENS);
    try {
      link.begin(makePlan({ measurement: { tokens: TOKENS } }), 0);
      addAnswers(link.answers);
      link.cut();
      const rows = (await link.merge(1)).rows();
      const tokenizer = await loadTokenizer(TINY, { revision: "main" });
      const meter = new TokenMeter({ kind: "chat", wantsStreams: true, countTokens: (text) => tokenizer.count(text) });
      const here = new AnswerPacker((packed) => meter.addPacked(packed));
      addAnswers(here);
      here.flush();
      meter.cut();
      assert.deepEqual(rows, meter.merge(1).rows());
      link.reset();
      link.answers.addAnswer(answer("one"));
      link.cut();
      assert.equal(
        (await link.merge(1)).count,
        1,
        "what an earlier level measured is forgotten, and the prompt is not",
      );
      await link.finish();
    } finally {
      await close();
    }
  });

  test("refuses a tokenizer with the error that loading it here gives", LIMIT, async () => {
    const absent = `${TINY}/absent`;
    const here = await loadTokenizer(absent, { revision: "main" }).catch((error: unknown) => error);
    const there = await startTokenThread({ ...TOKENS, tokenizer: absent }).catch((error: unknown) => error);
    assert.ok(here instanceof UserError && there instanceof UserError);
    assert.deepEqual(there.problems, here.problems);
  });

  test("answers no call once it is closed", LIMIT, async () => {
    const { link, close } = await startTokenThread({ ...TOKENS, tokenizer: "none" });
    link.begin(makePlan({ measurement: { tokens: TOKENS } }), 0);
    const merging = link.merge(1);
    const rejected = assert.rejects(merging, /the thread that counts tokens was closed/);
    await close();
    await rejected;
  });
});

/** The thread's side in this thread, with a file that a test makes. */
function openDesk(file: RequestFile): {
  handle: (...tasks: TokenTask[]) => void;
  answers: AnswerPacker;
  desk: MeterDesk;
} {
  const desk = new MeterDesk({ countTokens: (text) => text.split(" ").length, openRecords: () => file });
  const answers = new AnswerPacker((packed) => void desk.handle({ kind: "answers", packed }));
  const handle = (...tasks: TokenTask[]): void => {
    for (const task of tasks) desk.handle(task);
  };
  handle({ kind: "begin", run: { ...RUN, recordsFile: "records.jsonl" } });
  return { handle, answers, desk };
}

describe("the file of single requests", () => {
  test("gets every answer of the measurement and every failure, and is put into place at the end", () => {
    const seen: string[] = [];
    const { handle, answers } = openDesk({
      onMeasured: ({ answered }) => seen.push(`measured ${answered?.times.contentNs.length}`),
      onFailure: ({ isWarmup }) => seen.push(isWarmup ? "failed in the warm-up" : "failed"),
      finish: () => seen.push("finished"),
      discard: () => seen.push("discarded"),
    });
    handle({ kind: "warm-up" });
    addAnswers(answers);
    answers.addFailure(FAILURE);
    answers.flush();
    handle({ kind: "reset" });
    addAnswers(answers);
    answers.addFailure(FAILURE);
    answers.flush();
    handle({ kind: "cut" }, { kind: "finish" });
    assert.deepEqual(seen, ["failed in the warm-up", "measured 2", "measured 3", "failed", "finished"]);
  });

  test("that cannot be written ends neither the run nor the measurement, and is reported at the end", () => {
    const full = new RunError("internal", "the disk is full", "");
    let discardCount = 0;
    const { handle, answers, desk } = openDesk({
      onMeasured: () => {
        throw full;
      },
      finish: () => assert.fail("an incomplete file may not be put into place"),
      discard: () => discardCount++,
    });
    handle({ kind: "reset" });
    addAnswers(answers);
    answers.flush();
    handle({ kind: "cut" });
    assert.equal(desk.handle({ kind: "merge", windowCount: 1 })[0]?.sendNs.length, 2);
    assert.throws(() => desk.handle({ kind: "finish" }), full);
    assert.equal(discardCount, 1);
  });
});
