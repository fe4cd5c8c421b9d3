import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT } from "../cli/rampart-process.ts";
import { LIMIT } from "../time-limit.ts";
import { type AnsweringKserve, startHttp } from "./answering-kserve.ts";
import { type BoundedResult, runBounded } from "./bounded-process.ts";
import { assertEndsWell } from "./command.ts";

/** Texts and numbers from outside that are far too long: messages and reports stay short, memory and time too. */

const MIB = 2 ** 20;
const LONG = "x".repeat(10 * MIB);

let folder = "";
let kserve: AnsweringKserve<string>;
/** `/big-error` answers with a status of 500 and a long text, `/chat…` with a stream of one token of 20 MB, all else with `{}`. */
const server = createServer((request, response) => {
  request.resume().on("end", () => answer(request.url ?? "", response));
});
function answer(path: string, response: ServerResponse): void {
  if (path.includes("big-error")) response.writeHead(500).end(JSON.stringify({ error: LONG }));
  else if (path.includes("chat/completions")) {
    const chunk = JSON.stringify({ choices: [{ delta: { content: LONG.repeat(2) }, finish_reason: LONG }] });
    response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
  } else response.end("{}");
}
const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rampart-texts-"));
  kserve = await startHttp();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  kserve.stop();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command line in the folder; `URL` is the server, `KSERVE` the other one. */
async function run(line: string, mostMiB = 900): Promise<BoundedResult> {
  const args = line
    .split(" ")
    .map((word) => word.replace("DIR", folder).replace("URL", urlOf()).replace("KSERVE", kserve.url));
  const result = await runBounded(args, { env: { HF_HUB_OFFLINE: "1" }, mostMiB });
  assert.notEqual(result.code, null, `${line} was killed at ${result.peakMiB} MiB:\n${result.err.slice(0, 2000)}`);
  assertEndsWell({ ...result, code: result.code ?? -1, thrown: undefined }, [0, 1, 2, 64, 65, 66, 69, 99], line);
  assert.ok(result.out.length < 40_000, `${line} printed ${result.out.length} characters`);
  return result;
}

const scenario = (fields: string): string =>
  `import { defineScenario, embedded, input, hold, http } from "rampart";\nconst LONG = "x".repeat(${LONG.length});\n` +
  `export default defineScenario({ name: "x", load: hold(1, { requests: 3 }), ${fields} } as any);\n`;

/** What a scenario's code says at length. */
const CODE: readonly (readonly [name: string, fields: string, said: RegExp])[] = [
  ["why a response is wrong", 'target: http("URL"), check: () => LONG', /xxx…/],
  [
    "an error of check",
    'target: http("URL"), check: () => { throw new Error(LONG); }',
    /check\s+throws:\s+xxx[\sx]*xxx…/,
  ],
  ["an error of setup", "target: embedded(), setup: () => { throw new Error(LONG); }", /setup fails: xxx.*xxx…/],
  [
    "an error of a command",
    "target: embedded(), setup: ({ $ }: any) => $`yes why | head -c 20000000 >&2; exit 3`",
    /exit code (?:3|141): why/,
  ],
  [
    "an error of generate",
    'target: http("URL"), inputs: input.generate(() => { throw new Error(LONG); })',
    /throws: xxx.*xxx…/,
  ],
  [
    "an error of a hook",
    "target: embedded(), onRecord: () => { throw new Error(LONG); }",
    /onRecord throws: xxx.*xxx…/,
  ],
  ["a wrong value", "target: embedded(), client: LONG", /client: .*xxx…/],
  ["a wrong field", "target: embedded(), [LONG]: 1", /xxx…/],
  ["a response of the server", 'target: http("URL/big-error")', /HTTP status 500|xxx…/],
];

describe("long texts of scenarios", () => {
  for (const [name, fields, said] of CODE)
    test(name, LIMIT, async () => {
      const own = join(folder, name.replaceAll(" ", "-"));
      await mkdir(own);
      await writeFile(join(own, "x.ts"), scenario(fields).replace("URL", urlOf()));
      const reports = ["json", "junit", "markdown", "html", "records"]
        .map((kind) => `--${kind} ${own}/out.${kind}`)
        .join(" ");
      const { out, err } = await run(`run ${own}/x.ts ${reports}`);
      assert.match(out + err, said);
      for (const file of await readdir(own)) {
        const { size } = await stat(join(own, file));
        assert.ok(size < 2 * MIB, `${file} has ${size} bytes`);
      }
    });
});

const OTHERS: readonly (readonly [name: string, line: string, file: string, text: string, said: RegExp])[] = [
  ["a key of a scenario", "run DIR/x.json", "x.json", `{"${LONG.slice(0, MIB - 100)}": 1}`, /is unknown|xxx…/],
  [
    "a key of data",
    "perf_analyzer -m m -u KSERVE --input-data DIR/x.json",
    "x.json",
    `{"data": [{"${LONG}": [1]}]}`,
    /xxx…/,
  ],
  [
    "a text where a number is needed",
    "perf_analyzer -m m -u KSERVE --input-data DIR/x.json",
    "x.json",
    `{"data": [{"IN": ["${LONG}"]}]}`,
    /./,
  ],
  ["an interval", "perf_analyzer -m m -u KSERVE --request-intervals DIR/x", "x", LONG, /is not a time interval/],
  [
    "a line of prompts",
    "genai-perf profile -m m --endpoint-type chat --tokenizer none -u KSERVE --input-file DIR/x.jsonl",
    "x.jsonl",
    LONG,
    /is not JSON/,
  ],
  ["a report", "compare DIR/x.json DIR/x.json", "x.json", `{"${LONG}": 1}`, /no version, x+…/],
];

describe("long texts elsewhere", () => {
  for (const [name, line, file, text, said] of OTHERS)
    test(name, LIMIT, async () => {
      await writeFile(join(folder, file), text);
      assert.match((await run(line)).err, said);
    });

  test("a token of 20 MB is shown once, and cut", LIMIT, async () => {
    const { out } = await run("chat URL hello --model m", 1500);
    assert.match(out, /TTFT/);
    assert.match(out, /xxx…"/);
  });

  test("names of a server", LIMIT, async () => {
    const name = LONG.slice(0, MIB);
    const tensor = { name, datatype: "FP32", shape: [-1] };
    kserve.answers = {
      metadata: JSON.stringify({ name: "m", versions: ["1"], platform: "x", inputs: [tensor], outputs: [tensor] }),
    };
    const { err } = await run("perf_analyzer -m m -u KSERVE");
    kserve.answers = {};
    assert.match(err, /xxx…/);
  });

  test("an option of 100,000 characters", LIMIT, async () => {
    assert.match((await run(`run --${LONG.slice(0, 100_000)}`)).err, /xxx…/);
  });
});

describe("numbers and files that ask for too much", () => {
  const GENAI =
    "genai-perf profile -m m --endpoint-type chat --tokenizer o200k_base -u KSERVE --artifact-dir DIR/artifacts";

  test("prompts of 1e9 tokens in a scenario", LIMIT, async () => {
    const fields = 'target: embedded({ protocol: "http" }), inputs: input.prompts({ isl: 1e9, systemTokens: 1e9 })';
    await writeFile(join(folder, "isl.ts"), scenario(fields));
    const { err } = await run("run DIR/isl.ts");
    assert.match(err, /inputs.isl: must be 10000000 or less/);
    assert.match(err, /systemTokens: must be 10000000 or less/);
  });

  test("a function that makes 100 bodies of 300 MiB", LIMIT, async () => {
    const made = "input.generate(() => ({ body: new Uint8Array(300 * 1024 * 1024) }), { count: 100 })";
    await writeFile(join(folder, "made.ts"), scenario(`target: http("URL"), inputs: ${made}`).replace("URL", urlOf()));
    const { err } = await run("run DIR/made.ts", 2500);
    assert.match(err, /input 3: makes 1258291200 bytes of inputs until here, more than 1073741824/);
  });

  test("prompts of 1e9 tokens in genai-perf mode", LIMIT, async () => {
    assert.match((await run(`${GENAI} --isl 1000000000`)).err, /1000000000 tokens is above the maximum of 10000000/);
  });

  test("a trace with a prompt of 1e9 tokens", LIMIT, async () => {
    await writeFile(join(folder, "trace.jsonl"), '{"timestamp": 0, "input_length": 1000000000, "output_length": 1}\n');
    assert.match((await run(`${GENAI} --input-file payload:DIR/trace.jsonl`)).err, /above the maximum of 10000000/);
  });

  test("a normalizer that makes every text grow", LIMIT, async () => {
    const tokenizer = join(folder, "growing");
    await cp(join(ROOT, "test/tokenize/fixtures/words-merged"), tokenizer, { recursive: true });
    const { readFile } = await import("node:fs/promises");
    const file = JSON.parse(await readFile(join(tokenizer, "tokenizer.json"), "utf8")) as { normalizer: unknown };
    const step = { type: "Replace", pattern: { Regex: "." }, content: "aaaaaaaaaaaaaaaa" };
    file.normalizer = { type: "Sequence", normalizers: Array(20).fill(step) };
    await writeFile(join(tokenizer, "tokenizer.json"), JSON.stringify(file));
    const { err } = await run(`${GENAI.replace("o200k_base", tokenizer)} --isl 10`, 1500);
    assert.match(err, /its normalizer makes texts more than 16 times as long/);
  });

  test("an entry of tensor data of 100 MiB", LIMIT, async () => {
    const numbers = "0.123456,".repeat(11 * MIB);
    await writeFile(join(folder, "large.json"), `{"data": [{"IN": [${numbers}1]}]}`);
    assert.match(
      (await run("perf_analyzer -m m -u KSERVE --input-data DIR/large.json", 500)).err,
      /an entry of \d+ bytes is above the maximum of 67108864/,
    );
  });
});

describe("a byte order mark before JSON", () => {
  const FILES: readonly (readonly [name: string, line: string, file: string, text: string, said?: RegExp])[] = [
    [
      "data of tensors",
      "perf_analyzer -m m -u KSERVE --request-count 1 --input-data DIR/b.json",
      "b.json",
      '{"data": [{"IN": [1, 2]}]}',
    ],
    [
      "a scenario",
      "run DIR/b.json",
      "b.json",
      '{"name": "x", "target": "embedded", "load": {"hold": {"concurrency": 1, "requests": 3}}}',
    ],
    ["a configuration", "genai-perf config -f DIR/b.yaml", "b.yaml", "bad: 1\n", /bad is not a valid/],
    ["a report", "compare DIR/b.json DIR/b.json", "b.json", '{"a": 1}', /it has no version, a\./],
    [
      "payloads",
      "perf_analyzer -m m --service-kind openai --endpoint v1/x --async -u URL --request-count 1 --input-data DIR/b.json",
      "b.json",
      '{"data": [{"payload": [{"a": 1}]}]}',
    ],
  ];
  for (const [name, line, file, text, said] of FILES)
    test(name, LIMIT, async () => {
      await writeFile(join(folder, file), `\uFEFF${text}`);
      const { code, err } = await run(line);
      if (said === undefined) assert.equal(code, 0, err);
      else assert.match(err, said);
    });
});
