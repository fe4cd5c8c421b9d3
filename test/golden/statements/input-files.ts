/** The input files of the statements' command lines, by path; `{dir}` stands for their folder. */

const SIXTEEN = Array.from({ length: 16 }, (_, index) => index);
const ones = (count: number): number[] => new Array(count).fill(1);
const numbers = (first: number): number[] => SIXTEEN.map((value) => value + first);
const b64 = (values: readonly number[]): { b64: string } => ({
  b64: Buffer.from(Int32Array.from(values).buffer).toString("base64"),
});
const json = (value: object): string => JSON.stringify(value);
const stream = (...texts: readonly string[]): object[] => texts.map((text) => ({ INPUT: [text] }));
const chat = (content: string, more: object = {}): object => ({
  model: "llama",
  messages: [{ role: "user", content }],
  max_tokens: 3,
  ...more,
});
const payload = (content: string, more: object = {}, beside: object = {}): object => ({
  payload: [chat(content, more)],
  ...beside,
});
/** A message of `simple.proto` after its length. */
const framed = (text: string): string =>
  `${String.fromCharCode(text.length + 2)}\0\0\0\n${String.fromCharCode(text.length)}${text}`;
const pair = (first: number): object => ({ INPUT0: numbers(first), INPUT1: ones(16) });
const zeros = "\0".repeat(64);

export const INPUT_FILES: Readonly<Record<string, string>> = {
  "one.json": json({ data: [pair(0)] }),
  "four.json": json({ data: [pair(65), pair(66), pair(67), pair(68)] }),
  "more.json": json({ data: [pair(97)] }),
  "b64.json": json({ data: [{ INPUT0: b64(numbers(65)), INPUT1: b64(ones(16)) }] }),
  "short.json": json({ data: [{ INPUT0: ones(3), INPUT1: ones(16) }] }),
  "missing.json": json({ data: [{ INPUT0: ones(16) }] }),
  "valid.json": json({
    data: [pair(0)],
    validation_data: [{ OUTPUT0: numbers(1), OUTPUT1: SIXTEEN.map((value) => value - 1) }],
  }),
  "valid-b64.json": json({
    data: [pair(0)],
    validation_data: [
      { OUTPUT0: b64(numbers(1)), OUTPUT1: { content: SIXTEEN.map((value) => value - 1), shape: [16] } },
    ],
  }),
  "invalid.json": json({ data: [pair(0)], validation_data: [{ OUTPUT0: numbers(2), OUTPUT1: ones(16) }] }),
  "unaligned.json": json({ data: [pair(0), pair(1)], validation_data: [{ OUTPUT0: numbers(1), OUTPUT1: ones(16) }] }),
  "streams.json": json({ data: [stream("a1", "a2", "a3", "a4"), stream("b1", "b2", "b3"), stream("c1", "c2")] }),
  "shapes.json": json({
    data: [
      { INPUT: { content: ones(16), shape: [2, 8] } },
      { INPUT: { content: ones(16), shape: [8, 2] } },
      { INPUT: { content: ones(16) } },
      { INPUT: { content: ones(16), shape: [4, 4] } },
    ],
  }),
  "all-shapes.json": json({
    data: [{ INPUT: { content: ones(16), shape: [2, 8] } }, { INPUT: { content: ones(16), shape: [4, 4] } }],
  }),
  "shapes-b64.json": json({ data: [{ INPUT: { content: b64(ones(6)), shape: [2, 3] } }] }),
  "text-b64.json": json({ data: [{ TEXT: { b64: Buffer.from("\x03\0\0\0one\x03\0\0\0two").toString("base64") } }] }),
  "folder/INPUT0": zeros,
  "folder/INPUT1": zeros,
  "short-folder/INPUT0": "\0",
  "short-folder/INPUT1": zeros,
  "texts/TEXT": "first\nsecond\n",
  "gaps.txt": "1000\n2000\n5000\n",
  "openai.json": json({ data: [payload("Who wrote it?")] }),
  "two-openai.json": json({ data: [payload("first"), payload("second")] }),
  "stream-openai.json": json({ data: [payload("Who wrote it?", { stream: true })] }),
  "openai-streams.json": json({ data: [[payload("first stream")], [payload("second stream")]] }),
  "two-payloads.json": json({ data: [{ payload: [chat("a"), chat("b")] }] }),
  "kitten_small.jpg": "a picture",
  "torchserve.json": json({ data: [{ TORCHSERVE_INPUT: ["{dir}/kitten_small.jpg"] }] }),
  "simple.proto":
    'syntax = "proto3";\npackage v1;\nservice Simple { rpc Echo(stream Request) returns (stream Response) {} }\nmessage Request { string message = 1; }\nmessage Response { string message = 1; }\n',
  "messages.bin": framed("Message-0") + framed("Message-1"),
  "generator.json": json({ data: [{ message_generator: "cat {dir}/messages.bin" }] }),
  "cut.bin": framed("Message-0").slice(0, 9),
  "cut-generator.json": json({ data: [{ message_generator: "cat {dir}/cut.bin" }] }),
  "prompts.jsonl": '{"text": "first prompt"}\n{"text": "second prompt"}\n',
  "prompt-folder/queries.jsonl": '{"text": "a query"}\n',
  "prompt-folder/passages.jsonl": '{"text": "a passage"}\n{"text": "another"}\n',
  "moon.jsonl": `{
    "timestamp": 0,
    "input_length": 12,
    "output_length": 3,
    "hash_ids": [46]
}
{
    "timestamp": 20,	# in milli-second
    "input_length": 12,
    "output_length": 2,
    "hash_ids": [46]
}
`,
  "texts.jsonl":
    '{"timestamp": 0, "text_input": "say this", "output_length": 2, "priority": 1}\n{"timestamp": 10, "text_input": "and this", "output_length": 2}\n',
  "sessions.jsonl":
    '{"session_id": "s1", "delay": 5, "text_input": "one", "output_length": 2}\n{"session_id": "s1", "text_input": "two", "output_length": 2}\n',
  "template.jinja": '{"text_in": {{ text|tojson }}, "mine": true}',
  "commands.jsonl": '{"text": "cat {dir}/messages.bin"}\n',
  "config.yaml":
    "model_name: llama\nendpoint:\n  type: chat\n  url: {http}\noutput:\n  artifact_directory: {dir}/out\nperf_analyzer:\n  stimulus:\n    concurrency: 1\n  measurement:\n    mode: request_count\n    num: 2\ntokenizer:\n  name: {tiny}\n",
};
