import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { embedded, hold, input, mix, openai } from "../../../src/index.ts";
import { SpareThreads } from "../../../src/measure/tokens/token-link.ts";
import { word } from "../../../src/plan/messages.ts";
import { fieldOf } from "../../../src/plan/objects.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { membersOf } from "../../../src/registry/mix.ts";
import { settleTokenizers } from "../../../src/run/open/settle-tokenizers.ts";
import type { Scenario } from "../../../src/scenario/define.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** No folder, no encoding, and no name that the hub can have. */
const NOWHERE = "no where";

function planOf(fields: object): Plan {
  return toPlan({ definition: { name: "made", load: hold(1, { requests: 3 }), ...fields } } as Scenario, "/");
}

async function settle(plan: Plan): Promise<{ readonly plan: Plan; readonly said: readonly string[] }> {
  const said: string[] = [];
  const spare = new SpareThreads();
  try {
    return { plan: await settleTokenizers(plan, (text) => said.push(word(text)), spare), said };
  } finally {
    await spare.close();
  }
}

/** Returns the tokenizers of a plan: of its prompts, and of its responses. */
function tokenizersOf({ inputs, measurement: { tokens } }: Pick<Plan, "inputs" | "measurement">): unknown[] {
  return [inputs as Readonly<Record<string, unknown>>, tokens as object].flatMap((part) => {
    const { tokenizer, isApproximate, ifNotLoaded } = part as Readonly<Record<string, unknown>>;
    return [tokenizer, isApproximate ?? false, ifNotLoaded ?? "named"];
  });
}

describe("a tokenizer that the user did not name", () => {
  test("is the model's if it can be loaded", async () => {
    const { plan, said } = await settle(
      planOf({ target: openai("h", { model: TINY }), inputs: input.prompts({ isl: 5 }) }),
    );
    assert.deepEqual(tokenizersOf(plan), [TINY, false, "named", TINY, false, "named"]);
    assert.deepEqual(said, []);
  });

  test("is replaced by none if it cannot be loaded, with one message, and prompts use the built-in one", async () => {
    const { plan, said } = await settle(
      planOf({ target: openai("h", { model: NOWHERE }), inputs: input.prompts({ isl: 5 }) }),
    );
    assert.deepEqual(tokenizersOf(plan), ["o200k_base", true, "named", "none", false, "named"]);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? "", /^the tokenizer no where was not found: .*; the server counts tokens instead$/);
  });

  test("is found for each member of a mix", async () => {
    const chat = { target: openai("h", { model: NOWHERE }), inputs: input.prompts({ isl: 5 }) };
    const { plan, said } = await settle(
      planOf({
        target: mix([
          { name: "chat", ...chat },
          { name: "tensors", target: embedded() },
        ]),
      }),
    );
    const [first, second] = membersOf(plan.target);
    assert.deepEqual(first?.tokens?.tokenizer, "none");
    assert.equal(fieldOf(first?.inputs ?? {}, "tokenizer"), "o200k_base");
    assert.equal(second?.inputs.kind, "random");
    assert.equal(said.length, 1);
  });
});

test("a tokenizer that was named stays, whether or not it can be loaded", async () => {
  const named = planOf({
    target: openai("h", { model: "m", tokenizer: NOWHERE }),
    inputs: input.prompts({ isl: 5 }),
  });
  const { plan, said } = await settle(named);
  assert.deepEqual(plan, named);
  assert.deepEqual(said, []);
});
