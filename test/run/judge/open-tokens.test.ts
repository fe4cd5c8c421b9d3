import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TokenLink } from "../../../src/measure/tokens/token-link.ts";
import { GroupedTokens } from "../../../src/run/groups/grouped-tokens.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";
import { openTokens } from "../../../src/run/judge/open-tokens.ts";
import { makePlan } from "../../plan/make-plan.ts";

const LIMIT = { timeout: 180_000 };

const planWith = (tokenizer: string) =>
  makePlan({ measurement: { tokens: { responses: "chat", isStreamed: true, tokenizer, revision: "main" } } });

test("one target has one link, and groups have a link for each target with tokens", LIMIT, async () => {
  const alone = await openTokens([planWith("none")]);
  assert.ok((await alone.measure(undefined)) instanceof TokenLink);
  await alone.close();
  const several = await openTokens([planWith("none"), makePlan()]);
  const groups = groupSteps([{ member: 1, tags: { target: "b" } }], 1);
  const tokens = await several.measure(groups);
  assert.ok(tokens instanceof GroupedTokens);
  assert.equal(tokens.responses.knowsPrompt(0), true, "nothing is packed for a target without tokens");
  await several.close();
});

test("when a tokenizer cannot be loaded, the other threads are ended", LIMIT, async () => {
  const absent = fileURLToPath(new URL("./absent", import.meta.url));
  await assert.rejects(openTokens([planWith("none"), planWith(absent)]), /absent/);
});
