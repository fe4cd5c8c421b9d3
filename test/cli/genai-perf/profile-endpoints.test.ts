import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import jpeg from "jpeg-js";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { makeFolder } from "../../make-folder.ts";
import { closing, listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { readBody, runCaptured } from "./run-captured.ts";

/** What `genai-perf profile` sends for each kind of endpoint and input, and what it makes of the responses. */

const tokenizer = await loadTokenizer(TINY);
/** Of "the the", which all servers here response. */
const ANSWER_TOKENS = tokenizer.count("the the");

type Json = Readonly<Record<string, unknown>>;

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly received: readonly Received[];
  readonly inputs: string;
  /** The bodies of inputs.json. */
  readonly bodies: readonly Json[];
  /** What profile_export_genai_perf.json has. */
  readonly report: Readonly<Record<string, { readonly avg: number }>>;
  readonly folder: string;
}

/** A response's text; server-sent events where it begins with `data:` or `event:`. */
type Answer = (request: Received) => string;

async function run(
  answer: Answer,
  args: readonly string[],
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<Ran> {
  const folder = makeFolder();
  const received: Received[] = [];
  using server = closing(
    createServer(async (request, response) => {
      const one = { path: request.url ?? "", headers: request.headers, body: JSON.parse(await readBody(request)) };
      received.push(one);
      const text = answer(one);
      const isStream = /^(?:data|event):/.test(text);
      const type = isStream ? "text/event-stream" : /^[[{]/.test(text) ? "application/json" : "text/plain";
      response.writeHead(200, { "Content-Type": type }).end(text);
    }),
  );
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const url = `http://127.0.0.1:${await listen(server)}`;
  const common = `profile -m tiny --isl 20 --num-dataset-entries 3 --random-seed 7 --request-count 4 --url ${url}`;
  const own = args.map((arg) => arg.replaceAll("FOLDER", folder));
  const artifacts = join(folder, "artifacts");
  await mkdir(artifacts);
  const all = [...common.split(" "), "--tokenizer", TINY, "--artifact-dir", artifacts, ...own];
  const said = await runCaptured(all);
  const [name = ""] = await readdir(artifacts);
  const inputs = await readFile(join(artifacts, name, "inputs.json"), "utf8").catch(() => '{"data":[]}');
  const report = await readFile(join(artifacts, name, "profile_export_genai_perf.json"), "utf8").catch(() => "{}");
  const bodies = (JSON.parse(inputs).data as { payload: Json[] }[]).map(({ payload }) => payload[0] as Json);
  return { ...said, received, inputs, bodies, report: JSON.parse(report), folder: name };
}

const CHAT: Answer = () => '{"object":"chat.completion","choices":[{"message":{"content":"the the"}}]}';
const BOXES: Answer = () => '{"data":[{"index":0,"bounding_boxes":{}}]}';

/** The content parts of a chat's one message. */
function partsOf(body: Json): { type: string; text?: string; image_url?: { url: string }; input_audio?: Json }[] {
  return (body["messages"] as { content: ReturnType<typeof partsOf> }[])[0]?.content ?? [];
}

function imagesOf(body: Json): { format: string; bytes: Buffer }[] {
  return partsOf(body).flatMap(({ image_url: image }) => (image === undefined ? [] : [readImage(image.url)]));
}

function readImage(url: string): { format: string; bytes: Buffer } {
  const [, format = "", base64 = ""] = /^data:image\/(\w+);base64,(.*)$/.exec(url) ?? [];
  return { format, bytes: Buffer.from(base64, "base64") };
}

function sizeOf({ format, bytes }: { format: string; bytes: Buffer }): [number, number] {
  if (format === "png") return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const { width, height } = jpeg.decode(bytes);
  return [width, height];
}

const MULTIMODAL = ["--endpoint-type", "multimodal"];
const SIZED = ["--image-width-mean", "20", "--image-height-mean", "12"];

describe("synthetic images", () => {
  test("of the type vision have GenAI-Perf's title, which is not that of multimodal", LIMIT, async () => {
    const { code, err, out } = await run(CHAT, ["--endpoint-type", "vision", ...SIZED]);
    assert.equal(code, 0, err);
    assert.match(out, /NVIDIA GenAI-Perf \| LLM Metrics/);
  });

  test("have the size and format asked for, as many as asked for, beside the prompt", LIMIT, async () => {
    for (const format of ["png", "jpeg"]) {
      const args = [...MULTIMODAL, ...SIZED, "--image-format", format, "--batch-size-image", "2"];
      const { code, err, out, received, bodies, report } = await run(CHAT, args);
      assert.equal(code, 0, err);
      assert.match(out, /Multi-Modal Metrics/);
      assert.equal(report["input_sequence_length"]?.avg, 20);
      assert.deepEqual(received[0]?.body, bodies[0]);
      for (const body of bodies) {
        assert.deepEqual(
          partsOf(body).map(({ type }) => type),
          ["text", "image_url", "image_url"],
        );
        for (const image of imagesOf(body)) assert.deepEqual([image.format, ...sizeOf(image)], [format, 20, 12]);
      }
    }
  });

  test("vary in size with the deviation, and in format where none is given", LIMIT, async () => {
    const args = [...MULTIMODAL, ...SIZED, "--num-dataset-entries", "20", "--request-count", "20"];
    const spread = ["--image-width-stddev", "8", "--image-height-stddev", "4"];
    const images = (await run(CHAT, [...args, ...spread])).bodies.flatMap(imagesOf);
    assert.deepEqual([...new Set(images.map(({ format }) => format))].sort(), ["jpeg", "png"]);
    const sizes = images.map(sizeOf);
    assert.ok(new Set(sizes.map(([width]) => width)).size > 5);
    assert.ok(new Set(sizes.map(([, height]) => height)).size > 3);
    const fixed = (await run(CHAT, args)).bodies.flatMap(imagesOf).map((image) => sizeOf(image).join());
    assert.deepEqual([...new Set(fixed)], ["20,12"]);
  });

  test("go to each endpoint in its own form", LIMIT, async () => {
    const retrieval = await run(BOXES, ["--endpoint-type", "image_retrieval", ...SIZED, "--batch-size-image", "2"]);
    assert.equal(retrieval.code, 0, retrieval.err);
    assert.equal(retrieval.received[0]?.path, "/v1/infer");
    const input = retrieval.bodies[0]?.["input"] as { type: string; url: string }[];
    assert.deepEqual(
      [Object.keys(retrieval.bodies[0] ?? {}), input.map(({ type }) => type)],
      [["input"], ["image_url", "image_url"]],
    );
    assert.deepEqual(sizeOf(readImage(input[1]?.url ?? "")), [20, 12]);
    assert.match(retrieval.out, /Image Retrieval Metrics[\s\S]*Image Throughput/);
    const clip = await run(() => '{"data":[{"embedding":[1]}]}', ["--endpoint-type", "nvclip", ...SIZED]);
    const items = clip.bodies[0]?.["input"] as string[];
    assert.deepEqual([items.length, items[1]?.startsWith("data:image/")], [2, true]);
    const args = [...SIZED, "--image-format", "png"];
    const responses = await run(() => RESPONSE, ["--endpoint-type", "responses", ...args]);
    assert.match(JSON.stringify(responses.bodies[0]), /"type":"input_image","image_url":"data:image\/png/);
    const messages = await run(() => MESSAGE, ["--endpoint-type", "messages", ...args]);
    assert.match(
      JSON.stringify(messages.bodies[0]),
      /"source":\{"type":"base64","media_type":"image\/png","data":"iVBOR/,
    );
  });

  test("equal seeds make equal files", LIMIT, async () => {
    const args = [...MULTIMODAL, ...SIZED, "--audio-length-mean", "0.2", "--audio-format", "mp3"];
    const [one, two, other] = await Promise.all([
      run(CHAT, args),
      run(CHAT, args),
      run(CHAT, [...args, "--random-seed", "8"]),
    ]);
    assert.equal(one.inputs, two.inputs);
    assert.notEqual(one.inputs, other.inputs);
  });
});

describe("synthetic audio", () => {
  const clipsOf = (body: Json): { format: string; bytes: Buffer }[] =>
    partsOf(body).flatMap(({ input_audio: clip }) =>
      clip === undefined
        ? []
        : [{ format: String(clip["format"]), bytes: Buffer.from(String(clip["data"]), "base64") }],
    );

  test("have the length, depth, rate and channels asked for", LIMIT, async () => {
    const args = [
      "--audio-length-mean",
      "0.5",
      "--audio-depths",
      "24",
      "--audio-sample-rates",
      "8",
      "--audio-num-channels",
      "2",
    ];
    const { code, err, bodies } = await run(CHAT, [...MULTIMODAL, ...args, "--batch-size-audio", "2"]);
    assert.equal(code, 0, err);
    for (const body of bodies) {
      const clips = clipsOf(body);
      assert.equal(clips.length, 2);
      for (const { format, bytes } of clips) {
        assert.equal(format, "wav");
        assert.deepEqual([bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)], [2, 8000, 24]);
        assert.equal(bytes.readUInt32LE(40), 0.5 * 8000 * 2 * 3);
      }
    }
  });

  test("vary with the deviation, and are drawn from several depths and rates", LIMIT, async () => {
    const args = ["--audio-length-mean", "0.5", "--audio-length-stddev", "0.2", "--audio-depths", "8", "16"];
    const rates = ["--audio-sample-rates", "8", "11.025", "--num-dataset-entries", "20", "--request-count", "20"];
    const clips = (await run(CHAT, [...MULTIMODAL, ...args, ...rates])).bodies.flatMap(clipsOf);
    const values = (read: (bytes: Buffer) => number): Set<number> => new Set(clips.map(({ bytes }) => read(bytes)));
    assert.deepEqual([...values((bytes) => bytes.readUInt16LE(34))].sort(), [16, 8]);
    assert.deepEqual([...values((bytes) => bytes.readUInt32LE(24))].sort(), [11_025, 8000]);
    assert.ok(values((bytes) => bytes.readUInt32LE(40)).size > 10);
  });

  test("are MP3 files where asked for", LIMIT, async () => {
    const { code, err, bodies } = await run(CHAT, [
      ...MULTIMODAL,
      "--audio-length-mean",
      "0.3",
      "--audio-format",
      "mp3",
    ]);
    assert.equal(code, 0, err);
    for (const { format, bytes } of bodies.flatMap(clipsOf)) assert.deepEqual([format, bytes[0]], ["mp3", 0xff]);
  });
});

describe("media that a run would not send are refused", () => {
  const refused: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["--endpoint-type", "chat", ...SIZED], /--image-width-mean: .*\bchat have no images/],
    [["--endpoint-type", "messages", "--audio-length-mean", "1"], /type messages have no audio clips/],
    [[...MULTIMODAL, "--image-width-mean", "9"], /has a width and a height/],
    [[...MULTIMODAL, "--image-format", "png"], /--image-format: describes synthetic images, but requests carry none/],
    [[...MULTIMODAL, "--audio-format", "mp3"], /--audio-format: describes synthetic audio/],
    [["--endpoint-type", "image_retrieval"], /image_retrieval has no images to send/],
    [
      [...MULTIMODAL, "--audio-length-mean", "0.05", "--audio-depths", "12"],
      /--audio-length-mean: is too short[\s\S]*--audio-depths: is not a bit depth/,
    ],
    [[...MULTIMODAL, "--audio-length-mean", "1", "--audio-format", "mp3", "--audio-sample-rates", "96"], / MP3/],
    [["--endpoint-type", "chat", "-b", "2"], /--batch-size-text flag is not supported for openai_chat_completions\./],
    [["--endpoint-type", "embeddings", "--batch-size-image", "2"], /type embeddings have no images/],
    [
      ["--endpoint-type", "template"],
      /template has no path of its own[\s\S]*requires the extra input payload_template/,
    ],
    [["--endpoint-type", "chat", "--input-format", "jsonl"], /--input-format needs --input-file/],
    [
      ["--endpoint-type", "chat", "--input-format", "jsonl", "--input-file", "synthetic:a"],
      /--input-format jsonl contradicts --input-file synthetic:a/,
    ],
  ];
  for (const [args, message] of refused)
    test(args.join(" "), LIMIT, async () => {
      const { code, err, received, folder } = await run(CHAT, args);
      assert.equal(code, 1);
      assert.match(err, message);
      assert.deepEqual([received.length, folder], [0, ""]);
    });
});

const RESPONSE =
  '{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"the the"}]}],"usage":{"input_tokens":20,"output_tokens":2}}';
const MESSAGE =
  '{"type":"message","content":[{"type":"text","text":"the the"}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":2}}';

function stream(events: readonly object[], isNamed: boolean): string {
  return events
    .map(
      (event) => `${isNamed ? `event: ${(event as { type: string }).type}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
    )
    .join("");
}

describe("endpoint types of Rampart's own", () => {
  test("responses: OpenAI's API, whole and streamed", LIMIT, async () => {
    const whole = await run(() => RESPONSE, ["--endpoint-type", "responses", "--osl", "2"]);
    assert.equal(whole.code, 0, whole.err);
    assert.equal(whole.folder, "tiny-openai-responses-concurrency1");
    const { path, body } = whole.received[0] as Received;
    assert.deepEqual(
      [path, Object.keys(body), body["max_output_tokens"]],
      ["/v1/responses", ["input", "model", "max_output_tokens"], 2],
    );
    assert.deepEqual(
      [whole.report["output_sequence_length"]?.avg, whole.report["input_sequence_length"]?.avg],
      [ANSWER_TOKENS, 20],
    );
    const delta = (text: string): object => ({ type: "response.output_text.delta", delta: text });
    const end = {
      type: "response.completed",
      response: { status: "completed", usage: { input_tokens: 20, output_tokens: 2 } },
    };
    const events = stream(
      [{ type: "response.created", response: { status: "in_progress" } }, delta("the"), delta(" the"), end],
      true,
    );
    const streamed = await run(() => events, ["--endpoint-type", "responses", "--streaming"]);
    assert.equal(streamed.code, 0, streamed.err);
    assert.equal(streamed.received[0]?.body["stream"], true);
    assert.equal(streamed.report["output_sequence_length"]?.avg, ANSWER_TOKENS);
  });

  test("messages: Anthropic's API with its headers, the key among them", LIMIT, async () => {
    process.env["RAMPART_TEST_KEY_2"] = "sk-ant-1";
    try {
      const args = ["--endpoint-type", "messages", "--osl", "2", "--api-key-env", "RAMPART_TEST_KEY_2"];
      const whole = await run(() => MESSAGE, args);
      assert.equal(whole.code, 0, whole.err);
      const { path, headers, body } = whole.received[0] as Received;
      assert.equal(path, "/v1/messages");
      assert.deepEqual(
        [headers["x-api-key"], headers["anthropic-version"], headers.authorization],
        ["sk-ant-1", "2023-06-01", undefined],
      );
      assert.deepEqual(Object.keys(body), ["model", "messages", "max_tokens"]);
      assert.equal(whole.report["output_sequence_length"]?.avg, ANSWER_TOKENS);
      assert.doesNotMatch(whole.inputs + whole.out + whole.err, /sk-ant-1/);
      const own = await run(() => MESSAGE, [...args, "-H", "Anthropic-Version:2024-01-01"]);
      assert.equal(own.received[0]?.headers["anthropic-version"], "2024-01-01");
    } finally {
      delete process.env["RAMPART_TEST_KEY_2"];
    }
    const delta = (text: string): object => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    });
    const usage = { input_tokens: 1, cache_read_input_tokens: 19, output_tokens: 1 };
    const events = stream(
      [
        { type: "message_start", message: { usage } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        delta("the"),
        delta(" the"),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: ANSWER_TOKENS } },
        { type: "message_stop" },
      ],
      true,
    );
    const streamed = await run(() => events, ["--endpoint-type", "messages", "--streaming"]);
    assert.equal(streamed.code, 0, streamed.err);
    assert.equal(streamed.report["output_sequence_length"]?.avg, ANSWER_TOKENS);
    // The server counts what it has from its cache apart: with it both counts agree.
    assert.doesNotMatch(streamed.err, /the server counts/);
  });

  test("rankings of Cohere and of Text Embeddings Inference", LIMIT, async () => {
    const cohere = await run(
      () => '{"results":[{"index":0,"relevance_score":0.5}]}',
      ["--endpoint-type", "cohere_rankings", "-b", "3"],
    );
    assert.equal(cohere.code, 0, cohere.err);
    const body = cohere.received[0]?.body ?? {};
    assert.deepEqual([cohere.received[0]?.path, Object.keys(body)], ["/v2/rerank", ["model", "query", "documents"]]);
    assert.equal((body["documents"] as string[]).length, 3);
    assert.match(cohere.out, /Rankings Metrics/);
    const tei = await run(() => '[{"index":0,"score":0.5}]', ["--endpoint-type", "tei_rankings", "-b", "2"]);
    assert.equal(tei.code, 0, tei.err);
    assert.deepEqual(
      [tei.received[0]?.path, Object.keys(tei.received[0]?.body ?? {})],
      ["/rerank", ["query", "texts"]],
    );
  });

  test("huggingface_generate is sent to the server's root", LIMIT, async () => {
    const { code, err, received, report } = await run(
      () => '[{"generated_text":"the the"}]',
      ["--endpoint-type", "huggingface_generate", "--extra-inputs", "x", "--extra-inputs", '{"y":{"z":null}}'],
    );
    assert.equal(code, 0, err);
    assert.equal(received[0]?.path, "/");
    const { input } = report["input_config"] as unknown as { input: { extra: unknown } };
    assert.deepEqual(input.extra, { x: "", y: { z: "" } });
  });

  test("huggingface_generate is streamed at the server's root if it is asked for", LIMIT, async () => {
    // Like Text Generation Inference: its path / looks at the body, and the last event has the whole text too.
    const tokens = ["the", " the"].map((text, index) => ({
      token: { id: index, text, special: false },
      generated_text: index === 1 ? "the the" : null,
    }));
    const { code, err, report } = await run(
      ({ body }) => (body["stream"] === true ? stream(tokens, false) : '[{"generated_text":"the the"}]'),
      ["--endpoint-type", "huggingface_generate", "--streaming"],
    );
    assert.equal(code, 0, err);
    assert.equal(report["output_sequence_length"]?.avg, ANSWER_TOKENS);
    assert.ok((report["time_to_first_token"]?.avg ?? 0) > 0, "only streams have it");
    assert.doesNotMatch(err, /not streamed/);
  });

  test("generate_stream: Triton's, streamed without being asked", LIMIT, async () => {
    const events = stream([{ text_output: "the" }, { text_output: " the" }], false);
    const { code, err, out, received, report } = await run(() => events, ["--endpoint-type", "generate_stream"]);
    assert.equal(code, 0, err);
    assert.deepEqual([received[0]?.path, received[0]?.body["stream"]], ["/v2/models/tiny/generate_stream", true]);
    assert.match(received[0]?.headers.accept ?? "", /event-stream/);
    assert.match(out, /Time To First Token/);
    assert.equal(report["output_sequence_length"]?.avg, ANSWER_TOKENS);
  });

  test("usage errors list GenAI-Perf's choices, and hints list Rampart's", LIMIT, async () => {
    const { code, err } = await run(CHAT, ["--endpoint-type", "chats"]);
    assert.equal(code, 2);
    assert.match(
      err,
      /invalid choice: 'chats' \(choose from 'chat', .*'vision'\)\n.*Rampart's own: responses, messages/,
    );
  });
});

describe("templates", () => {
  const TEMPLATE = [
    "--endpoint-type",
    "template",
    "--endpoint",
    "my/path",
    "--extra-inputs",
    "payload_template:FOLDER/t.jinja",
  ];
  const TEXT = '{"ask": {{ text|tojson }}, "limit": {{ max_tokens|tojson }}, "stream": {{ stream|lower }}}';

  test("create bodies, and responses are read from the path, streamed too", LIMIT, async () => {
    const files = { "t.jinja": TEXT };
    const extra = ["--extra-inputs", "response_field:out[0].words", "--extra-inputs", "temperature:1.0", "--osl", "2"];
    const answer: Answer = ({ body }) =>
      body["stream"] === true
        ? stream([{ out: [{ words: "the" }] }, { out: [{ words: " the" }] }], false)
        : '{"out":[{"words":"the the"}]}';
    const whole = await run(answer, [...TEMPLATE, ...extra], files);
    assert.equal(whole.code, 0, whole.err);
    assert.equal(whole.folder, "tiny-openai-template-concurrency1");
    const { path, body } = whole.received[0] as Received;
    assert.deepEqual([path, Object.keys(body)], ["/my/path", ["ask", "limit", "stream", "temperature"]]);
    assert.deepEqual([body["limit"], body["stream"]], [2, false]);
    assert.equal(tokenizer.count(String(body["ask"])), 20);
    assert.deepEqual(
      [whole.report["input_sequence_length"]?.avg, whole.report["output_sequence_length"]?.avg],
      [20, ANSWER_TOKENS],
    );
    assert.match(whole.inputs, /"temperature": 1\.0\n/);
    const streamed = await run(answer, [...TEMPLATE, ...extra, "--streaming"], files);
    assert.equal(streamed.code, 0, streamed.err);
    assert.match(streamed.out, /Time To First Token/);
    assert.equal(streamed.report["output_sequence_length"]?.avg, ANSWER_TOKENS);
  });

  test("a response without text at the path is a failed request with that reason", LIMIT, async () => {
    const extra = ["--extra-inputs", "response_field:nope"];
    const { code, err } = await run(() => '{"text":"the"}', [...TEMPLATE, ...extra], { "t.jinja": TEXT });
    assert.equal(code, 1);
    assert.match(err, /4 of 4 requests failed[\s\S]*4 x model: nothing is at nope in the response/);
    assert.match(
      err,
      /of 4 responses, 4 are not valid and 0 have no content; .* not valid: nothing is at nope in the response/,
    );
  });

  test("a web page is a failed request, also of services that answer with bare text", LIMIT, async () => {
    let index = 0;
    const answer: Answer = () => (index++ === 0 ? "<!doctype html><title>Sign in</title>" : "the the");
    const some = await run(answer, TEMPLATE, { "t.jinja": TEXT });
    assert.equal(some.code, 1);
    assert.match(some.err, /1 of 4 requests failed[\s\S]*1 x unreadable: an HTML page came .*: Sign in/);
    assert.deepEqual(
      [some.report["request_count"]?.avg, some.report["output_sequence_length"]?.avg],
      [3, ANSWER_TOKENS],
    );
  });

  test("a list makes several requests; vectors and rankings are known by themselves", LIMIT, async () => {
    const named = [
      "--endpoint-type",
      "template",
      "--endpoint",
      "embed",
      "--extra-inputs",
      "payload_template:nv-embedqa",
      "-b",
      "2",
      "--request-count",
      "6",
    ];
    const vectors = await run(() => '{"embeddings":[[0.5,1]]}', named);
    assert.equal(vectors.code, 0, vectors.err);
    assert.equal(vectors.bodies.length, 6);
    assert.deepEqual(Object.keys(vectors.bodies[5] ?? {}), ["text"]);
    assert.match(vectors.out, /Embeddings Metrics/);
    assert.doesNotMatch(vectors.out, /Token/);
    const inline = 'payload_template:{"q": {{ query|tojson }}, "d": {{ passages|tojson }}}';
    const ranking = ["--endpoint-type", "template", "--endpoint", "rank", "--extra-inputs", inline, "-b", "2"];
    const ranked = await run(
      () => '{"rankings":[{"index":0,"logit":1}]}',
      [...ranking, "--input-file", "synthetic:queries,passages"],
    );
    assert.equal(ranked.code, 0, ranked.err);
    assert.equal((ranked.bodies[0]?.["d"] as string[] | undefined)?.length, 2);
    assert.match(ranked.out, /Rankings Metrics/);
  });

  test("a template that fails is reported with file and line, and nothing is sent or left", LIMIT, async () => {
    const { code, err, received, bodies } = await run(CHAT, TEMPLATE, { "t.jinja": '{\n"a": {{ text|bogus }}\n}' });
    assert.equal(code, 1);
    assert.match(err, /t\.jinja, line 2: fails: Unknown StringValue filter: bogus/);
    assert.deepEqual([received.length, bodies.length], [0, 0]);
    const missing = await run(CHAT, TEMPLATE);
    assert.match(missing.err, /Template file not found/);
  });
});

describe("--input-format", () => {
  const CHATTING = ["--endpoint-type", "chat", "--input-file", "FOLDER/data"];
  const promptsOf = ({ bodies }: Ran): unknown[] =>
    bodies.map((body) => (body["messages"] as { content: string }[])[0]?.content);

  test("auto finds a payload file, which is sent once; jsonl takes its texts alone", LIMIT, async () => {
    const lines =
      '{"timestamp":0,"input_length":5}\n{"timestamp":1,"input_length":6}\n{"timestamp":2,"input_length":7}\n';
    const payload = await run(CHAT, [...CHATTING, "--request-count", "3"], { data: lines });
    assert.equal(payload.code, 0, payload.err);
    assert.equal(payload.folder, "tiny-openai-chat");
    assert.deepEqual(
      promptsOf(payload).map((prompt) => tokenizer.count(String(prompt))),
      [5, 6, 7],
    );
    assert.match(payload.inputs, /"timestamp"/);
    const both = '{"text":"a","timestamp":5,"other":1}\n';
    const texts = await run(CHAT, CHATTING, { data: both });
    assert.deepEqual([promptsOf(texts), texts.bodies[0]?.["other"]], [["a"], undefined]);
    const forced = await run(CHAT, [...CHATTING, "--input-format", "payload"], { data: both });
    assert.equal(forced.bodies[0]?.["other"], 1);
  });

  test("conversations are asked their first question, traces get the lengths they tell", LIMIT, async () => {
    const talk =
      '[{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"the the"},{"from":"human","value":"bye"}]}]';
    for (const named of [[], ["--input-format", "sharegpt"]]) {
      const ran = await run(CHAT, [...CHATTING, ...named], { data: talk });
      assert.equal(ran.code, 0, ran.err);
      assert.deepEqual([promptsOf(ran), ran.bodies[0]?.["max_tokens"]], [["hi"], ANSWER_TOKENS]);
    }
    const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,9,4\n";
    const burst = "Timestamp,Model,Request tokens,Response tokens\n5,GPT-4,9,4\n";
    for (const [data, format] of [
      [azure, "azure"],
      [burst, "burstgpt"],
    ] as const) {
      for (const named of [[], ["--input-format", format]]) {
        const ran = await run(CHAT, [...CHATTING, ...named], { data });
        assert.equal(ran.code, 0, ran.err);
        assert.equal(ran.bodies[0]?.["max_tokens"], 4);
      }
      const other = format === "azure" ? "burstgpt" : "azure";
      const wrong = await run(CHAT, [...CHATTING, "--input-format", other], { data });
      assert.equal(wrong.code, 1);
      assert.match(wrong.err, /data, line 1: has no column/);
    }
    const unknown = await run(CHAT, CHATTING, { data: '{"prompt":"a"}\n' });
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /has an unknown format/);
  });

  test("images and sounds that a file names are sent with their own bytes, addresses as they are", LIMIT, async () => {
    const png = Buffer.from("89504e470d0a1a0a00", "hex");
    const lines = [
      '{"text":"a","image":"x.png","audio":"x.wav"}',
      '{"text":"b","images":["https://host/y.jpg","x.png"]}',
    ];
    const args = [...MULTIMODAL, "--input-file", "FOLDER/data"];
    const ran = await run(CHAT, args, { data: lines.join("\n"), "x.png": png, "x.wav": "RIFF" });
    assert.equal(ran.code, 0, ran.err);
    const parts = ran.bodies.map(partsOf);
    assert.deepEqual(
      parts.map((list) => list.map(({ type }) => type).join()),
      ["text,image_url,input_audio", "text,image_url,image_url"],
    );
    assert.deepEqual(
      parts.map((list) => list[1]?.image_url?.url),
      [`data:image/png;base64,${png.toString("base64")}`, "https://host/y.jpg"],
    );
    const lost = await run(CHAT, [...CHATTING], { data: lines.join("\n"), "x.png": png, "x.wav": "RIFF" });
    assert.equal(lost.code, 1);
    assert.match(lost.err, /--input-file: has images, .*\bchat cannot carry/);
    assert.deepEqual([lost.received.length, lost.bodies.length], [0, 0]);
  });
});
