import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { toProfilePlan } from "../../../src/cli/genai-perf/plan/to-plan.ts";
import { openLayout } from "../../../src/cli/genai-perf/profile/payload-layout.ts";
import { runProfile } from "../../../src/cli/genai-perf/profile/run-profile.ts";
import { toWriteTask, writeInputs } from "../../../src/cli/genai-perf/profile/write-inputs.ts";
import { isLargeFile } from "../../../src/inputs/large-file.ts";
import { decodeMessage, encodeMessage } from "../../../src/service/protobuf/message.ts";
import * as messages from "../../../src/service/triton/messages.ts";
import { makeFolder } from "../../make-folder.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { readGood } from "./read.ts";

/** inputs.json is an output: a run sends the same requests when nothing can be read from the file. */

interface Ran {
  readonly isPassed: boolean;
  /** Bodies of the requests, in order; of KServe the texts of `text_input`. */
  readonly sent: readonly string[];
  /** Empty where the file is not kept. */
  readonly inputs: string;
}

interface Server {
  readonly url: string;
  sent(): string[];
  close(): void;
}

/** @param isKept false: inputs.json is a link to a device that keeps nothing */
async function run(
  open: () => Promise<Server>,
  args: string,
  files: Record<string, string>,
  isKept: boolean,
): Promise<Ran> {
  const folder = makeFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const artifacts = join(folder, "artifacts");
  await mkdir(artifacts);
  if (!isKept) await symlink("/dev/null", join(artifacts, "inputs.json"));
  const server = await open();
  const io = { out: () => {}, err: () => {}, onInterrupt: () => () => {}, loadApi: async () => ({}) };
  try {
    const base = ["profile", "-m", "tiny", "--tokenizer", TINY, "--random-seed", "7", "--url", server.url];
    const { asked } = readGood(...base, ...args.replace("FOLDER", folder).split(" "));
    const { isPassed } = await runProfile(toProfilePlan(asked, artifacts, []), io);
    return { isPassed, sent: server.sent(), inputs: await readFile(join(artifacts, "inputs.json"), "utf8") };
  } finally {
    server.close();
  }
}

const CHAT = '{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"the"}}],"text":"the"}';
const EMBEDDINGS = '{"object":"list","data":[{"object":"embedding","embedding":[1],"index":0}]}';

async function openHttp(): Promise<Server> {
  const server = await startAnsweringServer((response, index) => {
    const text = server.received[index]?.path.endsWith("/embeddings") ? EMBEDDINGS : CHAT;
    response.writeHead(200, { "Content-Type": "application/json" }).end(text);
  });
  const sent = (): string[] => server.received.flatMap(({ method, text }) => (method === "POST" ? [text] : []));
  return { url: server.url, sent, close: server.close };
}

/** A model with the inputs of vLLM's backend. */
async function openVllm(): Promise<Server> {
  const sent: string[] = [];
  const flags = ["stream", "exclude_input_in_output"].map((name) => ({ name, datatype: "BOOL", shape: [1] }));
  const texts = ["text_input", "sampling_parameters"].map((name) => ({ name, datatype: "BYTES", shape: [1] }));
  const output = { name: "text_output", datatype: "BYTES", shape: [1] };
  const metadata = { name: "tiny", versions: ["1"], platform: "x", inputs: [...texts, ...flags], outputs: [output] };
  const server = await startGrpcAnsweringServer({
    ModelMetadata: () => [encodeMessage(messages.MODEL_METADATA, metadata)],
    ModelConfig: () => {
      const input = metadata.inputs.map(({ name, datatype }) => {
        const type = datatype === "BYTES" ? "TYPE_STRING" : "TYPE_BOOL";
        return { name, data_type: type, dims: [1], optional: name !== "text_input" };
      });
      const config = { name: "tiny", input, output: [{ name: "text_output", data_type: "TYPE_STRING", dims: [1] }] };
      const decoupled = { model_transaction_policy: { decoupled: true } };
      return [encodeMessage(messages.MODEL_CONFIG_RESPONSE, { config: { ...config, ...decoupled } })];
    },
    ModelStreamInfer: (message) => {
      const { inputs, raw_input_contents: raw } = decodeMessage(messages.INFER_REQUEST, message) as {
        inputs: { name: string }[];
        raw_input_contents: Uint8Array[];
      };
      const [text] = inputs.flatMap(({ name }, index) => (name === "text_input" ? [raw[index] as Uint8Array] : []));
      sent.push(new TextDecoder().decode(text?.subarray(4)));
      const raw_output_contents = [new Uint8Array([3, 0, 0, 0, 97, 98, 99])];
      const infer_response = { model_name: "tiny", model_version: "1", outputs: [output], raw_output_contents };
      return [encodeMessage(messages.STREAM_INFER_RESPONSE, { infer_response })];
    },
  });
  return { url: server.url, sent: () => sent, close: server.close };
}

const CASES: Readonly<Record<string, readonly [args: string, files?: Record<string, string>]>> = {
  chat: ['--endpoint-type chat --isl 12 --request-count 8 --extra-inputs {"a":1.0,"7":12345678901234567890}'],
  completions: ["--endpoint-type completions --isl 12 --request-count 8"],
  embeddings: ["--endpoint-type embeddings --isl 12 --request-count 4 --batch-size-text 2"],
  images: ["--endpoint-type image_retrieval --image-width-mean 8 --image-height-mean 8 --request-count 3"],
  templates: [
    "--endpoint-type template --endpoint ask --isl 12 --request-count 4 --extra-inputs payload_template:FOLDER/ask.jinja",
    { "ask.jinja": '{"ask": {{ text|tojson }}}' },
  ],
  "texts of a file": [
    "--endpoint-type chat --input-file FOLDER/in.jsonl --request-count 2",
    { "in.jsonl": '{"text":"é 中 \\ud83d\\ude00"}\n{"text":"\\ud83d"}\n' },
  ],
  "fixed schedule": [
    "--endpoint-type chat --input-file payload:FOLDER/in.jsonl --fixed-schedule",
    { "in.jsonl": [0, 150, 300].map((at) => `{"timestamp":${at},"text_input":"at ${at}"}\n`).join("") },
  ],
  "what follows --": ["--endpoint-type chat --isl 12 --num-dataset-entries 3 -- --request-count 7"],
};

describe("inputs.json is written and not read", () => {
  for (const [name, [args, files = {}]] of Object.entries(CASES))
    test(name, LIMIT, async () => {
      // Requests of a schedule leave on connections of their own, whose order a busy machine does not keep.
      const isScheduled = args.includes("--fixed-schedule");
      const ranWith = async (isKept: boolean): Promise<Ran> => {
        const ran = await run(openHttp, args, files, isKept);
        return isScheduled ? { ...ran, sent: ran.sent.toSorted() } : ran;
      };
      const [kept, lost] = [await ranWith(true), await ranWith(false)];
      assert.deepEqual(lost, { ...kept, inputs: "" });
      assert.ok(kept.isPassed);
      const { data } = JSON.parse(kept.inputs) as { data: { payload: [object] }[] };
      assert.ok(data.length > 1);
      // Exact numbers are lost to JSON.parse on both sides.
      const bodies = data.map(({ payload: [body] }) => JSON.stringify(body));
      const expected = kept.sent.map((_, index) => bodies[index % bodies.length]);
      assert.deepEqual(
        kept.sent.map((text) => JSON.stringify(JSON.parse(text))),
        expected,
      );
    });

  test("sessions", LIMIT, async () => {
    const args = "--endpoint-type chat --num-sessions 2 --session-turns-mean 3 --session-concurrency 1 --isl 9";
    const kept = await run(openHttp, args, {}, true);
    assert.deepEqual(await run(openHttp, args, {}, false), { ...kept, inputs: "" });
    assert.deepEqual([kept.isPassed, kept.sent.length], [true, 6]);
  });

  test("tensors of KServe", LIMIT, async () => {
    const args = "--endpoint-type kserve --backend vllm --isl 12 --osl 3 --request-count 5";
    const kept = await run(openVllm, args, {}, true);
    assert.deepEqual(await run(openVllm, args, {}, false), { ...kept, inputs: "" });
    const { data } = JSON.parse(kept.inputs) as { data: { text_input: [string] }[] };
    assert.deepEqual(
      kept.sent,
      data.map(({ text_input: [text] }) => text),
    );
  });
});

test("a file above the limit is not held in memory", LIMIT, async () => {
  const folder = makeFolder();
  const file = join(folder, "in.jsonl");
  const line = `${JSON.stringify({ text: "x".repeat(1024 * 1024) })}\n`;
  await writeFile(file, line.repeat(65));
  const write = async (count: number) => {
    const args = ["--input-file", file, "--request-count", String(count), "--tokenizer", "none"];
    const read = readGood("profile", "-m", "m", "--endpoint-type", "chat", ...args);
    const task = toWriteTask(toProfilePlan(read.asked, folder, []));
    return writeInputs({ ...task, entryLimit: count }, undefined, await openLayout(task.requests, undefined));
  };
  const small = await write(3);
  assert.deepEqual([small.held?.byteCounts.length, await isLargeFile(small.path)], [3, false]);
  const large = await write(65);
  assert.deepEqual([large.held, await isLargeFile(large.path)], [undefined, true]);
});
