import assert from "node:assert/strict";
import { test } from "node:test";
import { toProfilePlan } from "../../../../src/cli/genai-perf/plan/to-plan.ts";
import { openLayout } from "../../../../src/cli/genai-perf/profile/payload-layout.ts";
import { word } from "../../../../src/plan/messages.ts";
import { UserError } from "../../../../src/plan/problem.ts";
import type { Payload } from "../../../../src/service/openai/payload.ts";
import type { PromptEntry } from "../../../../src/service/openai/prompt-entry.ts";
import { loadTokenizer } from "../../../../src/tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../../src/tokenize/tokenizer.ts";
import { TINY } from "../../../tokenize/tiny.ts";
import { readGood } from "../read.ts";

/** Requests with ids of tokens: tensors, their order and their defaults, as in the inputs.json of GenAI-Perf 0.0.16. */

const ENGINE = ["profile", "-m", "a", "--endpoint-type", "tensorrtllm_engine"];
const REPOSITORY = ["--", "--model-repository", "m"];
const tiny = await loadTokenizer(TINY);
const IDS = tiny.encode("the end");

async function create(flags: readonly string[], entry: Partial<PromptEntry> = {}, tokenizer: Tokenizer = tiny) {
  const { asked } = readGood(...ENGINE, ...flags, ...REPOSITORY);
  const layout = await openLayout(toProfilePlan(asked, "", []).requests, tokenizer);
  return layout.create({ texts: ["the end"], ...entry }, 0)[0] as Payload;
}

const prompt = { input_ids: { content: IDS, shape: [IDS.length] }, input_lengths: [IDS.length] };
const inMessage = tiny.encode("<|im_start|>user\nthe end<|im_end|>\n");
const conversation = {
  input_ids: { content: inMessage, shape: [inMessage.length] },
  input_lengths: [inMessage.length],
};

const bodies: readonly (readonly [name: string, flags: string, entry: Partial<PromptEntry>, body: object])[] = [
  ["without a length", "", {}, { ...prompt, request_output_len: [256] }],
  ["streamed", "--streaming", { maxTokens: 7 }, { ...prompt, request_output_len: [7], streaming: [true] }],
  [
    "with an exact length",
    "--streaming --osl 7 --output-tokens-mean-deterministic",
    { maxTokens: 7 },
    { ...prompt, request_output_len: [7], streaming: [true], min_length: [7] },
  ],
  [
    "with an end and further tensors, those of the entry last",
    "--extra-inputs set_end_id:true --extra-inputs temperature:0.5",
    { extra: { top_k: 5 } },
    { ...prompt, request_output_len: [256], end_id: [1], temperature: [0.5], top_k: [5] },
  ],
  ["as a conversation", "--extra-inputs apply_chat_template:true", {}, { ...conversation, request_output_len: [256] }],
  [
    "with switches that are off",
    "--extra-inputs apply_chat_template:false --extra-inputs set_end_id:false",
    {},
    { ...prompt, request_output_len: [256] },
  ],
];
for (const [name, flags, entry, body] of bodies)
  test(`a request ${name}`, async () => {
    const made = await create(flags === "" ? [] : flags.split(" "), entry);
    assert.equal(made.isTensors, true);
    // As text, because the order of the keys counts too.
    assert.equal(JSON.stringify(made.body), JSON.stringify(body));
  });

const encoding = await loadTokenizer("gpt2");
const failing = {
  ...tiny,
  encode: tiny.encode.bind(tiny),
  chat: { template: "{{ raise_exception('no') }}", tokens: {} },
};
const { endId: _, ...endless } = { ...tiny, encode: tiny.encode.bind(tiny) };
const refusals: readonly (readonly [name: string, flag: string, tokenizer: Tokenizer, message: RegExp])[] = [
  ["a tokenizer without a template", "apply_chat_template:true", encoding, /the tokenizer gpt2 has no chat template/],
  ["a template that fails", "apply_chat_template:true", failing as Tokenizer, /the chat template of .* fails: no/],
  ["a tokenizer without an end", "set_end_id:true", endless as Tokenizer, /the files of .* name no end token/],
];
for (const [name, flag, tokenizer, message] of refusals)
  test(`${name} is refused before the first request`, async () => {
    await assert.rejects(create(["--extra-inputs", flag], {}, tokenizer), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, message);
      assert.match(word(error.problems[0]?.path ?? ""), /^--extra-inputs /);
      return true;
    });
  });
