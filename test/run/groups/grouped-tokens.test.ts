import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../../src/measure/tokens/packed-responses.ts";
import { TokenLink } from "../../../src/measure/tokens/token-link.ts";
import { MeterDesk, type TokenTask } from "../../../src/measure/tokens/token-thread.ts";
import type { SentError } from "../../../src/plan/sent-error.ts";
import { GroupedTokens } from "../../../src/run/groups/grouped-tokens.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import type { WorkerCalls } from "../../../src/runtime/worker-calls.ts";
import { valuesOf } from "../../measure/tokens/make-columns.ts";
import { makePlan } from "../../plan/make-plan.ts";

const encoder = new TextEncoder();
const SPAN = { startNs: 0, endNs: 1e9 };
const PLAN = makePlan({
  measurement: { tokens: { responses: "chat", isStreamed: false, tokenizer: "none", revision: "" } },
});

/** A link to a meter in this thread that counts words. */
function makeLink(): TokenLink {
  const desk = new MeterDesk({ countTokens: (text) => text.split(" ").length });
  const calls = {
    fail: (error: Error) => assert.fail(error),
    call: (task: TokenTask) => Promise.resolve(desk.handle(task)),
  };
  return new TokenLink(calls as unknown as WorkerCalls<SentError>);
}

function addResponse({ responses }: GroupedTokens, step: number, text: string): void {
  if (!responses.knowsPrompt(step))
    responses.addPrompt(step, encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two" }] })));
  const body = JSON.stringify({ choices: [{ message: { role: "assistant", content: text } }] });
  responses.addResponse({
    step,
    sequenceId: 0,
    sendNs: 1000 * step,
    offsetsNs: [5000],
    ...partsOf([encoder.encode(body)]),
  });
}

test("responses are measured by group, window by window, and the groups together are the whole", async () => {
  const groups = groupSteps(
    [
      { member: 0, tags: { target: "a", length: "long" } },
      { member: 0, tags: { target: "a", length: "short" } },
      { member: 1, tags: { target: "b" } },
      { member: 2, tags: { target: "c" } },
    ],
    4,
  );
  const members = [makeLink(), undefined, makeLink()].map((link) => ({ plan: PLAN, link }));
  const tokens = new GroupedTokens(groups, members);
  tokens.begin(PLAN, 0);
  tokens.warmUp();
  addResponse(tokens, 0, "x x");
  tokens.reset();
  addResponse(tokens, 0, "a b c");
  addResponse(tokens, 1, "a");
  addResponse(tokens, 2, "not measured");
  tokens.cut(SPAN);
  tokens.resume();
  addResponse(tokens, 0, "a b c d");
  addResponse(tokens, 3, "a b");
  tokens.responses.addFailure({
    ...{ step: 1, sequenceId: 0, sendNs: 0, firstByteNs: Number.NaN, endNs: 9, responseCount: 0 },
    failure: { kind: "http", message: "busy", status: 503 },
  });
  tokens.cut(SPAN);
  const level = await tokens.mergeLevel(2);
  const counted = (columns: typeof level.tokens | undefined) =>
    columns && [valuesOf(columns.metrics.outputTokens), columns.failedCount];
  assert.deepEqual(level.groupTokens?.map(counted), [[[3, 4], 0], [[1], 1], undefined, [[2], 0]]);
  assert.deepEqual(counted(level.tokens), [[1, 2, 3, 4], 1]);
  const last = await tokens.mergeLevel(1);
  assert.deepEqual(last.groupTokens?.map(counted), [[[4], 0], [[], 1], undefined, [[2], 0]]);
});

test("recent tokens are taken by group", async () => {
  const groups = groupSteps(
    [
      { member: 0, tags: { target: "a" } },
      { member: 1, tags: { target: "b" } },
    ],
    2,
  );
  const tokens = new GroupedTokens(groups, [
    { plan: PLAN, link: makeLink() },
    { plan: PLAN, link: undefined },
  ]);
  tokens.begin(PLAN, 0);
  await tokens.takeRecent(3);
  addResponse(tokens, 0, "a b");
  const taken = await tokens.takeRecent(3);
  assert.deepEqual(valuesOf(taken.tokens.metrics.outputTokens), [2]);
  assert.deepEqual(
    taken.groupTokens?.map((columns) => columns?.count),
    [1, undefined],
  );
});
