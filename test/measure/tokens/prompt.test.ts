import assert from "node:assert/strict";
import { test } from "node:test";
import { Prompt } from "../../../src/measure/tokens/prompt.ts";

const countTokens = (text: string): number => text.split(" ").length;
const BODY = JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "one two three" }] });

test("the text's tokens are counted once", () => {
  let calls = 0;
  const counting = (text: string): number => {
    calls++;
    return countTokens(text);
  };
  const prompt = new Prompt(BODY, { countTokens: counting });
  assert.deepEqual([prompt.inputTokens("chat"), prompt.inputTokens("chat"), calls], [3, 3, 1]);
});

test("without a counter there is no number of tokens", () => {
  assert.equal(new Prompt(BODY, {}).inputTokens("chat"), Number.NaN);
});

test("only a template knows the tokens of its bodies", () => {
  assert.equal(new Prompt(BODY, { countTokens }).inputTokens("custom"), Number.NaN);
  assert.equal(new Prompt(BODY, { countTokens, countPayload: () => 42 }).inputTokens("custom"), 42);
});

test("a length is asked for only where limits mean one", () => {
  assert.equal(new Prompt(BODY, {}).requestedTokens("chat"), undefined);
  assert.equal(new Prompt(BODY, { isLengthAsked: true }).requestedTokens("chat"), 9);
});

test("counts that were computed before a body is dropped stay known", () => {
  const prompt = new Prompt(BODY, { countTokens, isLengthAsked: true, readsModels: true }, "s1");
  prompt.settle("chat");
  assert.deepEqual(
    [
      prompt.inputTokens("chat"),
      prompt.requestedTokens("chat"),
      prompt.imageCount("chat"),
      prompt.model,
      prompt.session,
    ],
    [3, 9, 0, "m", "s1"],
  );
});

test("a body that names no model, or is none, has none", () => {
  assert.equal(new Prompt('{"model":7}', {}).model, undefined);
  assert.equal(new Prompt("{", {}).model, undefined);
  assert.throws(() => new Prompt("{", { countTokens }).inputTokens("chat"), SyntaxError);
});
