import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { startWorker } from "../../src/runtime/workers.ts";
import { loadTokenizer } from "../../src/tokenize/load-tokenizer.ts";
import { startTokenCounter } from "../../src/tokenize/token-counter.ts";

/** Counting in a thread of its own. */

const GPT2 = join(import.meta.dirname, "fixtures", "gpt2");
const OFFLINE = { env: { HF_HUB_OFFLINE: "1", HF_HUB_CACHE: join(import.meta.dirname, "none") } };
const TEXTS = Array.from({ length: 500 }, (_, index) => `${"word ".repeat(index % 17)}— ${index} 你好`);

test("batches are counted as in this thread, each in its order", async () => {
  const tokenizer = await loadTokenizer(GPT2, OFFLINE);
  const counter = await startTokenCounter(GPT2, OFFLINE);
  try {
    assert.equal(counter.fallbackNote, undefined);
    const [all, none, reversed] = await Promise.all([
      counter.countAll(TEXTS),
      counter.countAll([]),
      counter.countAll(TEXTS.toReversed()),
    ]);
    const expected = TEXTS.map((text) => tokenizer.count(text));
    assert.ok(new Set(expected).size > 10);
    assert.deepEqual(all, expected);
    assert.deepEqual(none, []);
    assert.deepEqual(reversed, expected.toReversed());
  } finally {
    await counter.close();
  }
});

test("this thread goes on while the other counts", async () => {
  const counter = await startTokenCounter("o200k_base", OFFLINE);
  try {
    let turns = 0;
    let isDone = false;
    const counting = counter.countAll([TEXTS.join("").repeat(40)]).then((counts) => {
      isDone = true;
      return counts;
    });
    while (!isDone) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(((await counting)[0] as number) > 100_000);
    assert.ok(turns > 10, `${turns} turns`);
  } finally {
    await counter.close();
  }
});

test("the thread keeps the process only while it counts", async () => {
  const calls: string[] = [];
  const counter = await startTokenCounter(GPT2, OFFLINE, (task) => {
    const worker = startWorker({ role: "count-tokens", data: task });
    const { ref, unref } = worker;
    worker.ref = () => {
      calls.push("ref");
      return ref.call(worker);
    };
    worker.unref = () => {
      calls.push("unref");
      return unref.call(worker);
    };
    return worker;
  });
  const counting = Promise.all([counter.countAll(["a"]), counter.countAll(["b"])]);
  assert.deepEqual(calls, ["unref", "ref"]);
  await counting;
  assert.deepEqual(calls, ["unref", "ref", "unref"]);
  await counter.close();
});

test("what is wrong with the tokenizer is told as without a thread", async () => {
  const name = "org/absent";
  const own = await loadTokenizer(name, OFFLINE).catch((error: unknown) => error);
  const sent = await startTokenCounter(name, OFFLINE).catch((error: unknown) => error);
  assert.ok(own instanceof UserError && sent instanceof UserError);
  assert.deepEqual(sent.problems, own.problems);
});

test("after closing nothing is counted, and what was asked for is rejected", async () => {
  const counter = await startTokenCounter(GPT2, OFFLINE);
  const pending = counter.countAll([TEXTS.join("").repeat(50)]).catch((error: unknown) => error);
  await counter.close();
  assert.ok((await pending) instanceof RunError);
  await assert.rejects(counter.countAll(["x"]), /it was closed/);
});

const failingStarts: readonly (readonly [what: string, start: () => Worker, reason: RegExp])[] = [
  [
    "cannot be made",
    () => {
      throw new Error("no threads here");
    },
    /no threads here/,
  ],
  ["throws", () => new Worker("throw new Error('broken thread')", { eval: true }), /broken thread/],
  ["ends at once", () => new Worker("process.exit(0)", { eval: true }), /ended at once/],
];
for (const [what, start, reason] of failingStarts) {
  test(`where the thread ${what} this one counts, and says so`, async () => {
    const counter = await startTokenCounter(GPT2, OFFLINE, start);
    assert.match(counter.fallbackNote ?? "", reason);
    const tokenizer = await loadTokenizer(GPT2, OFFLINE);
    assert.deepEqual(
      await counter.countAll(TEXTS),
      TEXTS.map((text) => tokenizer.count(text)),
    );
    await counter.close();
  });
}
