import assert from "node:assert/strict";
import { test } from "node:test";
import { openChatFormat, readChatFormat, readSpecialTokens } from "../../src/tokenize/chat-format.ts";
import { loadTokenizer } from "../../src/tokenize/load-tokenizer.ts";
import { TINY } from "./tiny.ts";

/** What a tokenizer's files say of conversations and of the end of a text. */

const MESSAGES = [
  { role: "user", content: "a" },
  { role: "assistant", content: "b" },
];

test("special tokens are texts, or objects with their content", () => {
  const tokens = readSpecialTokens({
    bos_token: "<s>",
    eos_token: { content: "</s>", lstrip: false },
    pad_token: null,
  });
  assert.deepEqual(tokens, { bos_token: "<s>", eos_token: "</s>" });
  assert.deepEqual(readSpecialTokens(undefined), {});
});

const formats: readonly (readonly [name: string, config: unknown, text: string | undefined])[] = [
  [
    "a template with special tokens and without the beginning of a response",
    {
      bos_token: "<s>",
      chat_template:
        "{{ bos_token }}{% for m in messages %}{{ m['role'] }}:{{ m['content'] }};{% endfor %}{% if add_generation_prompt %}go{% endif %}",
    },
    "<s>user:a;assistant:b;",
  ],
  [
    "several templates, of which the default counts",
    {
      chat_template: [
        { name: "tools", template: "x" },
        { name: "default", template: "{{ messages[1].content }}" },
      ],
    },
    "b",
  ],
  ["several templates without a default", { chat_template: [{ name: "tools", template: "x" }] }, undefined],
  ["a file without a template", { bos_token: "<s>" }, undefined],
  ["no file", undefined, undefined],
];
for (const [name, config, text] of formats)
  test(`conversations of ${name}`, async () => {
    const format = readChatFormat(config);
    assert.equal(format && (await openChatFormat(format))(MESSAGES), text);
  });

test("a template that is not valid, or refuses a conversation, fails with its reason", async () => {
  const open = (template: string) => openChatFormat({ template, tokens: {} });
  await assert.rejects(open("{% for m in messages %}"));
  const write = await open("{{ raise_exception('only one turn') }}");
  assert.throws(() => write(MESSAGES), /only one turn/);
});

test("a tokenizer has its files' conversations and end", async () => {
  const tiny = await loadTokenizer(TINY);
  assert.equal(tiny.endId, 1);
  const write = tiny.chat && (await openChatFormat(tiny.chat));
  const ids = tiny.encode(write?.([{ role: "user", content: "the" }]) ?? "");
  assert.equal(tiny.decode(ids), "<|im_start|>user\nthe<|im_end|>\n");
  const encoding = await loadTokenizer("cl100k_base");
  assert.deepEqual([encoding.endId, encoding.chat], [100257, undefined]);
});
