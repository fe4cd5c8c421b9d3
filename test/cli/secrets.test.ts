import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/commands.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { createFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** No mode writes a secret anywhere, whoever says it again. */

/** Each begins with what is searched for: half a secret is one too. */
const KEY = 'sk-live-Zq7/+"Key"=9';
const SAFE_KEY = "sk-live-Zq7aKey9";
const COOKIE = "sk-live-c00kie";
const PASSWORD = "sk-live-pa55";
const FOUND = /sk-live|c2stbGl2Z|live-Zq7/;
const ENV = "RAMPART_TEST_SECRET_KEY";
process.env[ENV] = `${SAFE_KEY}\n`;

const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
/** What requests carried, as they came. */
const carried: string[] = [];

/** What a server was sent, for it to say again. */
function said({ headers, url = "" }: IncomingMessage): string {
  const text = [headers.authorization, headers["x-api-key"], headers.cookie, url].join(" and ");
  carried.push(headers["x-evil"] === undefined ? text : "injected");
  return text;
}

const servers = {
  /** 401, with the key where a cut at 300 characters would halve it. */
  refusing: await listen((request, response) => {
    const text = said(request);
    response.writeHead(401, { "Content-Type": "application/json", "X-Echo": encodeURIComponent(text) });
    const at = text.search(/sk-live/);
    response.end(JSON.stringify({ error: { message: `${"x".repeat(295 - at)}${text}` }, detail: text }));
  }),
  /** KServe's form of an error. */
  failing: await listen((request, response) => {
    response.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ error: said(request) }));
  }),
  /** Answers with the key as the model's words. */
  talking: await listen((request, response) => {
    const content = said(request);
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    response.writeHead(200, { "Content-Type": "application/json", "X-Echo": encodeURIComponent(content) });
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 3, completion_tokens: 3 } }));
  }),
  /** An error within a stream. */
  streaming: await listen((request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ error: { message: said(request) } })}\n\n`);
  }),
  page: await listen((request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end(`<!doctype html><title>${"x".repeat(180)}${said(request)}</title>`);
  }),
} as const;

function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

/** Says the metadata again as the message of an error. */
const grpc = createHttp2Server();
grpc.on("stream", (stream, headers) => {
  const text = `${headers["authorization"]} and ${headers["cookie"]}`;
  carried.push(text);
  stream.on("error", () => {});
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": "16",
      "grpc-message": encodeURIComponent(text),
    },
    { endStream: true },
  );
});
const grpcUrl = await new Promise<string>((resolve) => {
  grpc.listen(0, "127.0.0.1", () => resolve(`127.0.0.1:${(grpc.address() as AddressInfo).port}`));
});
after(async () => {
  grpc.close();
  await mock.stop();
});

const ENTRIES = { data: [{ payload: [{ model: "m", messages: [{ role: "user", content: "hi" }] }] }] };
const HEADERS = ["-H", `Authorization: Bearer ${KEY}`, "-H", `Cookie: session=${COOKIE}`];
const FILES = ["--json", "r.json", "-f", "r.csv", "--profile-export-file", "p.json", "--verbose-csv"];
const PERF = ["perf_analyzer", "-m", "simple", "--request-count", "2", ...HEADERS, ...FILES, "-v", "-v"];
const OPENAI = [
  ...PERF,
  "--async",
  "--service-kind",
  "openai",
  "--endpoint",
  "v1/chat/completions",
  "--input-data",
  "in.json",
];
const PROFILE = "genai-perf profile -m tiny --endpoint-type chat --osl 2 --isl 3 --request-count 2 -v".split(" ");
const KEYED = [
  ...PROFILE,
  "--tokenizer",
  TINY,
  "--num-dataset-entries",
  "1",
  "--api-key-env",
  ENV,
  "-H",
  `Cookie: a=${COOKIE}`,
];
const RECORDS = ["--records", "records.jsonl", "--generate-plots"];
const target = (url: string, more = ""): string =>
  scenarioText({
    target: `openai("${url}", { model: "m", tokenizer: "none", apiKeyEnv: "${ENV}", headers: { "X-Api-Key": ${JSON.stringify(KEY)}, Cookie: "a=${COOKIE}" }${more} })`,
    inputs: 'input.payloads("./in.json")',
    load: "hold(1, { requests: 2 })",
  });
const REPORTS = ["--json", "r.json", "--csv", "r.csv", "--profile-export-file", "p.json", "--verbose"];

interface Case {
  readonly what: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Whether a server gets the secret. Default true. */
  readonly isSent?: boolean;
}

const { refusing, failing, talking, streaming, page } = servers;
const garbling = await new Promise<string>((resolve) => {
  // The key lies across the place where the line is cut off.
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const key = /x-api-key: (.*)\r/i.exec(String(bytes))?.[1] ?? /bearer (.*)\r/i.exec(String(bytes))?.[1] ?? "";
      carried.push(key);
      socket.end(`SMTP ${"x".repeat(48)}${key}\r\n\r\n`);
    });
  });
  after(() => server.close());
  server.listen(0, "127.0.0.1", () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`));
});
const login = (address: string): string => `http://ada:${PASSWORD}@${address}`;
const query = `v1/chat/completions?api_key=${SAFE_KEY}`;

const CASES: readonly Case[] = [
  { what: "perf_analyzer, HTTP, traced", args: [...PERF, "-u", `127.0.0.1:${mock.httpPort}`], isSent: false },
  { what: "perf_analyzer, HTTP, refused", args: [...PERF, "-u", refusing] },
  { what: "perf_analyzer, HTTP, failing", args: [...PERF, "-u", failing] },
  { what: "perf_analyzer, gRPC, failing", args: [...PERF, "-i", "grpc", "-u", grpcUrl] },
  { what: "perf_analyzer, grpc-js, failing", args: [...PERF, "-i", "grpc", "-u", grpcUrl, "--client", "grpc-js"] },
  { what: "perf_analyzer, undici, refused", args: [...PERF, "-u", refusing, "--client", "undici"] },
  { what: "perf_analyzer, dry run", args: [...PERF, "-u", refusing, "--dry-run"], isSent: false },
  { what: "perf_analyzer, openai, refused", args: [...OPENAI, "-u", refusing] },
  { what: "perf_analyzer, openai, talking", args: [...OPENAI, "-u", talking] },
  { what: "perf_analyzer, openai, failures counted", args: [...OPENAI, "-u", refusing, "--max-error-rate", "100%"] },
  { what: "perf_analyzer, openai, streamed", args: [...OPENAI, "-u", streaming, "--streaming"] },
  { what: "perf_analyzer, openai, page", args: [...OPENAI, "-u", page] },
  { what: "perf_analyzer, openai, dry run", args: [...OPENAI, "-u", refusing, "--dry-run"], isSent: false },
  { what: "perf_analyzer, openai, key in the endpoint", args: [...OPENAI, "-u", talking, "--endpoint", query] },
  { what: "perf_analyzer, login in the address", args: [...OPENAI, "-u", login(talking)], isSent: false },
  {
    what: "perf_analyzer, login without a scheme",
    args: [...OPENAI, "-u", `ada:${PASSWORD}@${talking}`],
    isSent: false,
  },
  {
    what: "perf_analyzer, header without a colon",
    args: [...PERF, "-H", `Authorization Bearer ${KEY}2`],
    isSent: false,
  },
  {
    what: "perf_analyzer, header with a line break",
    args: [...PERF, "-H", `X-Api-Key: ${KEY}\r\nX-Evil: ${SAFE_KEY}`],
    isSent: false,
  },
  {
    what: "perf_analyzer, endpoint with a line break",
    args: [...OPENAI, "--endpoint", `${query}\r\nX-Evil: 1`],
    isSent: false,
  },
  {
    what: "perf_analyzer, login in the metrics' address",
    args: [...PERF, "--collect-metrics", "--metrics-url", login("h:1/metrics")],
    isSent: false,
  },
  { what: "genai-perf, talking", args: [...KEYED, ...RECORDS, "-u", talking] },
  { what: "genai-perf, refused", args: [...KEYED, ...RECORDS, "-u", refusing] },
  { what: "genai-perf, streamed", args: [...KEYED, ...RECORDS, "-u", streaming, "--streaming"] },
  { what: "genai-perf, page", args: [...KEYED, ...RECORDS, "-u", page] },
  { what: "genai-perf, key in the endpoint", args: [...KEYED, "-u", talking, "--endpoint", query] },
  { what: "genai-perf, dry run", args: [...KEYED, "-u", talking, "--endpoint", query, "--dry-run"], isSent: false },
  { what: "genai-perf, login in the address", args: [...KEYED, "-u", login(talking)], isSent: false },
  { what: "genai-perf, header without a colon", args: [...KEYED, "-H", `X-Api-Key ${SAFE_KEY}`], isSent: false },
  {
    what: "genai-perf, header with a line break",
    args: [...KEYED, "-u", talking, "-H", `X-Api-Key: ${SAFE_KEY}\r\nX-Evil: 1`],
    isSent: false,
  },
  {
    what: "genai-perf, endpoint with a line break",
    args: [...KEYED, "-u", talking, "--endpoint", `${query}\r\nX-Evil: 1`],
    isSent: false,
  },
  {
    what: "genai-perf, flags after --",
    args: [...KEYED, "-u", talking, "--", "-H", `X-Api-Key: ${SAFE_KEY}`],
    isSent: false,
  },
  {
    what: "genai-perf, configuration",
    args: ["genai-perf", "config", "-f", "c.yaml"],
    files: {
      "c.yaml": `model_name: tiny\nendpoint:\n  type: chat\n  url: ${talking}\ninput:\n  header:\n    - "Authorization: Bearer ${SAFE_KEY}"\ntokenizer:\n  name: ${TINY}\nperf_analyzer:\n  stimulus: { concurrency: 1 }\n`,
    },
  },
  { what: "scenario, refused", args: ["run", "x.ts", ...REPORTS], files: { "x.ts": target(refusing) } },
  { what: "scenario, page", args: ["run", "x.ts", ...REPORTS], files: { "x.ts": target(page) } },
  { what: "scenario, no HTTP", args: ["run", "x.ts", ...REPORTS], files: { "x.ts": target(garbling) } },
  { what: "perf_analyzer, no HTTP", args: [...OPENAI, "-u", garbling] },
  { what: "scenario, talking", args: ["run", "x.ts", ...REPORTS], files: { "x.ts": target(talking) } },
  {
    what: "scenario, streamed",
    args: ["run", "x.ts", ...REPORTS],
    files: { "x.ts": target(streaming, ", streaming: true") },
  },
  { what: "scenario, dry run", args: ["run", "x.ts", "--dry-run"], files: { "x.ts": target(talking) }, isSent: false },
  {
    what: "scenario, login in the address",
    args: ["run", "x.ts"],
    files: { "x.ts": target(login(talking)) },
    isSent: false,
  },
  {
    what: "scenario, --url with a login",
    args: ["run", "x.ts", "--url", login(talking)],
    files: { "x.ts": target(talking) },
    isSent: false,
  },
  {
    what: "scenario, header with a line break",
    args: ["run", "x.ts"],
    files: { "x.ts": target(talking).replace("a=", `a=\\r\\nX-Evil: ${SAFE_KEY}`) },
    isSent: false,
  },
  {
    what: "scenario, path with a line break",
    args: ["run", "x.ts"],
    files: { "x.ts": target(talking, `, endpoint: "custom", path: "${query}\\r\\nX-Evil: 1"`) },
    isSent: false,
  },
  { what: "wizard", args: ["init", "--yes", "--no-run", "--url", login(failing), "--save", "w.ts"], isSent: false },
  {
    what: "wizard, language model",
    args: ["init", "--yes", "--no-run", "--target", "openai", "--url", login(failing), "--save", "w.ts"],
    isSent: false,
  },
  { what: "mock", args: ["mock", "--host", login("h"), "--http-port", "0", "--grpc-port", "x"], isSent: false },
];

/** All that a command wrote: texts by where they stand. */
async function runInFolder({ args, files = {} }: Case): Promise<Map<string, string>> {
  using folder = createFolder({ "in.json": JSON.stringify(ENTRIES), ...files });
  const texts = new Map([
    ["stdout", ""],
    ["stderr", ""],
  ]);
  const add =
    (name: string) =>
    (text: string): void => {
      texts.set(name, `${texts.get(name)}${text}`);
    };
  const io = {
    out: add("stdout"),
    err: add("stderr"),
    onInterrupt: () => () => {},
    loadApi: () => import("../../src/index.ts"),
  };
  const before = process.cwd();
  process.chdir(folder.path);
  try {
    texts.set("exit code", String(await runCommandLine("rampart", args, io)));
  } catch (error) {
    texts.set("thrown", String(error));
  } finally {
    process.chdir(before);
  }
  for (const entry of await readdir(folder.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !(entry.name in files))
      texts.set(path.slice(folder.path.length + 1), await readFile(path, "utf8"));
  }
  return texts;
}

describe("secrets", () => {
  for (const one of CASES)
    test(`are written nowhere: ${one.what}`, LIMIT, async () => {
      carried.length = 0;
      const texts = await runInFolder(one);
      assert.equal(texts.get("thrown"), undefined);
      for (const [where, text] of texts) {
        const at = text.search(FOUND);
        assert.ok(at < 0, `${where}: …${text.slice(Math.max(0, at - 200), at + 40)}…`);
      }
      assert.doesNotMatch(carried.join(), /injected/);
      if (one.isSent !== false) assert.match(carried.join(), FOUND, [...texts].join("\n"));
    });

  test("of the environment lose their line break on the wire, and with one inside are refused", LIMIT, async () => {
    carried.length = 0;
    await runInFolder({ what: "", args: [...KEYED, "-u", talking] });
    assert.ok(carried.length > 0 && carried.every((text) => text.startsWith(`Bearer ${SAFE_KEY} and`)), carried.join());
    const name = "RAMPART_TEST_SPLIT_KEY";
    process.env[name] = `${SAFE_KEY}\r\nX-Evil: ${SAFE_KEY}1`;
    try {
      carried.length = 0;
      const text = target(talking).replace(ENV, name);
      const args = KEYED.map((arg) => (arg === ENV ? name : arg));
      for (const one of [{ args: [...args, "-u", talking] }, { args: ["run", "x.ts"], files: { "x.ts": text } }]) {
        const texts = await runInFolder({ what: "", ...one });
        assert.match(
          texts.get("stderr") ?? "",
          /the variable RAMPART_TEST_SPLIT_KEY has a line break or another character/,
        );
        assert.doesNotMatch([...texts.values()].join(), FOUND);
      }
      assert.deepEqual(carried, []);
    } finally {
      delete process.env[name];
    }
  });

  test("are masked by the process as well", LIMIT, async () => {
    using folder = createFolder({ "x.ts": target(failing) });
    await writeFile(join(folder.path, "in.json"), JSON.stringify(ENTRIES));
    const { out, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.match(out + err, /\*\*\*/);
    assert.doesNotMatch(out + err, FOUND);
  });
});
