// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type PackedFailure, ResponsePacker } from "../../../src/measure/tokens/packed-responses.ts";
import { SpareThreads, startTokenThread } from "../../../src/measure/tokens/token-link.ts";
import { TokenMeter } from "../../../src/measure/tokens/token-meter.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { makeFolder } from "../../make-folder.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { addAnswers, answer, TOKENS } from "./added-responses.ts";

const SPAN = { startNs: 0, endNs: 1e9 };
const FAILED: PackedFailure = {
  step: 0,
  sequenceId: 0,
  sendNs: 0,
  firstByteNs: Number.NaN,
  endNs: 1e6,
  responseCount: 0,
  failure: { kind: "connect", message: "refused" },
};

describe("a thread that measures tokens", () => {
  test("gives the numbers that a meter in this thread gives, level by level", LIMIT, async () => {
    const { link, close } = await startTokenThread(TOKENS);
    try {
      link.begin(makePlan({ measurement: { tokens: TOKENS } }), 0);
      addAnswers(link.responses);
      link.cut(SPAN);
      const { tokens } = await link.mergeLevel(1);
      const tokenizer = await loadTokenizer(TINY, { revision: "main" });
      const meter = new TokenMeter({
        kind: "chat",
        wantsStreams: true,
        countTokens: (text) => tokenizer.count(text),
        tokenizer: TINY,
        omitsBunchedRates: true,
      });
      const here = new ResponsePacker((packed) => meter.addPacked(packed));
      addAnswers(here);
      here.flush();
      meter.cut(SPAN);
      assert.deepEqual(tokens, meter.merge(1).tokens);
      assert.deepEqual(JSON.parse(JSON.stringify(tokens)), tokens, "plain data");
      link.reset();
      link.responses.addResponse(answer("one"));
      link.cut(SPAN);
      assert.equal(
        (await link.mergeLevel(1)).tokens.count,
        1,
        "what an earlier level measured is forgotten, and the prompt is not",
      );
      await link.finish();
    } finally {
      await close();
    }
  });

  test("returns the numbers of each request in several messages, and counts failures once", LIMIT, async () => {
    const plan = { ...TOKENS, tokenizer: "none" };
    const { link, close } = await startTokenThread(plan);
    try {
      link.begin(makePlan({ measurement: { tokens: plan } }), 0, { keepsRows: true });
      link.responses.addPrompt(0, new Uint8Array());
      const sent = 2 ** 14 + 100;
      for (let index = 0; index < sent; index++) link.responses.addResponse({ ...answer("a", " b"), sendNs: index });
      link.responses.addFailure({ ...FAILED, sendNs: sent });
      link.cut({ startNs: 0, endNs: 1e9 });
      const { tokens, tokenRows } = await link.mergeLevel(1);
      assert.deepEqual([tokens.count, tokenRows?.count, tokenRows?.failedCount], [sent, sent, 1]);
      for (let index = 0; index < sent; index += 97) assert.equal(tokenRows?.sendNs.at(index), index);
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
    const merging = link.mergeLevel(1);
    const rejected = assert.rejects(merging, /the thread that counts tokens was closed/);
    await close();
    await rejected;
  });
});

test("a spare thread is taken once, with the tokenizer that it has read", LIMIT, async () => {
  const folder = makeFolder();
  const tokenizer = join(folder, "model");
  cpSync(TINY, tokenizer, { recursive: true });
  const spare = new SpareThreads();
  try {
    await spare.start({ tokenizer, revision: "main" });
    rmSync(folder, { recursive: true });
    const { close } = await spare.take({ ...TOKENS, tokenizer, revision: "main" });
    await close();
    await assert.rejects(spare.take({ tokenizer, revision: "main" }), UserError);
  } finally {
    await spare.close();
  }
});

test("a thread that still loads its tokenizer is not waited for", LIMIT, async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const hub = createServer(() => resolve()).listen(0, "127.0.0.1");
  await once(hub, "listening");
  const before = { HF_ENDPOINT: process.env["HF_ENDPOINT"], HF_HUB_OFFLINE: process.env["HF_HUB_OFFLINE"] };
  delete process.env["HF_HUB_OFFLINE"];
  process.env["HF_ENDPOINT"] = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
  const spare = new SpareThreads();
  try {
    const taken = spare.take({ tokenizer: "no-org/no-model", revision: "main" });
    const rejected = assert.rejects(taken, /was closed/);
    await Promise.race([asked, taken]);
    await spare.close();
    await rejected;
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    hub.closeAllConnections();
    hub.close();
  }
});
