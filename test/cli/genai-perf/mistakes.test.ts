import assert from "node:assert/strict";
import { readdir, symlink } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { createFolder, runRampart, startRampart } from "../rampart-process.ts";
import { answerChat, runChat } from "./chat-server.ts";
import { runCaptured } from "./run-captured.ts";

/** What users and servers do wrong: told in words that help, and in the exit code. */

const answerPage = (response: ServerResponse): void => {
  response.writeHead(200, { "Content-Type": "text/html" }).end("<html>\n<body>Welcome</body></html>");
};

async function withServer<T>(server: Server, use: (url: string) => Promise<T>): Promise<T> {
  try {
    return await use(`127.0.0.1:${await listen(server)}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function profileArgs(url: string, ...more: readonly string[]): string[] {
  const words = "genai-perf profile -m tiny --endpoint-type chat --streaming --isl 10 --num-dataset-entries 2";
  return [...words.split(" "), "--tokenizer", TINY, "--url", url, ...more];
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
}

describe("an interrupted profile", () => {
  test("exits with 1 and a report on the measurements so far", LIMIT, async () => {
    let interrupt: (() => void) | undefined;
    const ran = await runChat(() => ["--request-count", "1000"], {
      onListening: (callback) => {
        interrupt = callback;
      },
      answer: (response, index) => {
        if (index === 3) interrupt?.();
        answerChat(response);
      },
    });
    assert.equal(ran.code, 1);
    assert.match(ran.err, /the run was interrupted: the report covers what was measured until then/);
    assert.match(ran.out, /Request Count/);
    assert.ok(ran.requestCount < 1000);
  });

  test("when not awaited after a second Ctrl-C, leaves no partial file", LIMIT, async () => {
    const asked = Promise.withResolvers<void>();
    // Answers nothing: the first Ctrl-C waits for a response.
    const server = createServer((request) => void request.resume().on("end", asked.resolve));
    await withServer(server, async (url) => {
      using folder = createFolder({});
      const more = ["--artifact-dir", join(folder.path, "artifacts"), "--records", join(folder.path, "r.jsonl")];
      const running = startRampart(profileArgs(url, ...more), { cwd: folder.path });
      await asked.promise;
      running.interrupt();
      await running.waitFor(/press Ctrl-C again/);
      running.interrupt();
      const { code } = await running.result;
      assert.equal(code, 130);
      assert.deepEqual(await filesIn(folder.path), ["inputs.json"]);
    });
  });
});

describe("a server that is another than the user thinks", () => {
  test("a web page is not a chat response: exit code 1, and the page's title", LIMIT, async () => {
    const ran = await runChat(() => ["--request-count", "3"], { answer: answerPage });
    assert.equal(ran.code, 1);
    assert.match(ran.err, /3 of 3 requests failed/);
    assert.match(ran.err, /3 x unreadable: an HTML page came .*Welcome/);
  });

  for (const type of ["embeddings", "rankings"])
    test(`a web page is not a response of ${type}`, LIMIT, async () => {
      const args = ["--endpoint-type", type, "--request-count", "3"];
      const ran = await runChat(() => args, { answer: answerPage, isStreaming: false });
      assert.equal(ran.code, 1);
      assert.match(ran.err, /3 of 3 requests failed/);
      assert.match(ran.err, /3 x unreadable: an HTML page came .*Welcome/);
    });

  test("nothing listens there: the address is named", LIMIT, async () => {
    const url = await withServer(createServer(), async (address) => address);
    const ran = await runChat(() => ["--request-count", "2", "--url", url]);
    assert.equal(ran.code, 1);
    assert.match(ran.err, /2 x connect: Connection refused/);
    assert.ok(ran.err.includes(`is there a server at ${url}? check --url`), ran.err);
  });

  test("an error of several lines is printed in one", LIMIT, async () => {
    const answer = (response: ServerResponse): void => void response.writeHead(500).end("boom\n  at line two\n");
    const ran = await runChat(() => ["--request-count", "2"], { answer });
    assert.equal(ran.code, 1);
    assert.match(ran.err, /2 x http: HTTP status 500: boom at line two\n/);
  });
});

test("without a tokenizer and the server's counts there is no token throughput, instead of 0", LIMIT, async () => {
  using folder = createFolder({ "in.jsonl": '{"text":"hello"}\n' });
  const args = ["--tokenizer", "none", "--input-file", join(folder.path, "in.jsonl"), "--request-count", "2"];
  const event = JSON.stringify({ choices: [{ delta: { content: "the" }, finish_reason: "stop" }] });
  const ran = await runChat(() => args, { answer: (response) => response.end(`data: ${event}\n\ndata: [DONE]\n\n`) });
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /Output Token Throughput \(tokens\/sec\) │ +N\/A/);
  const [, json = ""] = [...ran.files].find(([path]) => path.endsWith("_genai_perf.json")) ?? [];
  assert.equal("output_token_throughput" in (JSON.parse(json) as object), false);
});

describe("settings that cannot be run are reported", () => {
  const wrong: readonly (readonly [name: string, args: readonly string[], code: number, parts: readonly string[]])[] = [
    [
      "flags that exclude each other, and all wrong values beside them",
      "profile -m m --concurrency x --request-rate 2 --endpoint-type chatt --nonsense".split(" "),
      2,
      [
        "unrecognized arguments: --nonsense",
        "--request-rate: not allowed with argument --concurrency",
        "--concurrency: invalid int value: 'x'",
        "--endpoint-type: invalid choice: 'chatt'",
      ],
    ],
    [
      "the old flag of GenAI-Perf's documentation",
      "profile -m m --service-kind openai".split(" "),
      2,
      ["unrecognized arguments: --service-kind openai", "--endpoint-type replaces it, such as --endpoint-type chat."],
    ],
    [
      "the old flag beside an endpoint type of another kind",
      "profile -m m --service-kind=triton --endpoint-type chat".split(" "),
      2,
      ["unrecognized arguments: --service-kind=triton", "such as --endpoint-type kserve."],
    ],
    [
      "an option of another subcommand",
      "profile -m m --sweep-type concurrency --sweep-range=1:4".split(" "),
      2,
      [
        "unrecognized arguments: --sweep-type concurrency --sweep-range=1:4",
        "--sweep-type is an option of genai-perf config and analyze.",
      ],
    ],
    [
      "a payload instead of its file",
      ["profile", "-m", "m", "--endpoint-type", "chat", "--input-file", 'payload:{"timestamp": 1}'],
      1,
      ['--input-file: File not found: {"timestamp": 1}', "one JSON object per line"],
    ],
    [
      "an empty name of a model, and a stall at once, by their flags",
      profileArgs("127.0.0.1:1", "-m", "", "--max-response-bytes", "0").slice(1),
      1,
      ["-m: ", "--max-response-bytes: User Config: 0 exceeds lower bounds"],
    ],
    [
      "two keys, of which a server would take either",
      profileArgs("127.0.0.1:1", "-H", "authorization: Bearer a", "--api-key-env", "PATH").slice(1),
      1,
      ["--header and --api-key-env both give Authorization"],
    ],
    [
      "a folder for results that is a file",
      profileArgs("127.0.0.1:1", "--artifact-dir", "file.txt").slice(1),
      1,
      ["file.txt/tiny-openai-chat-concurrency1/inputs.json cannot be written", "with --artifact-dir"],
    ],
  ];
  for (const [name, args, expected, parts] of wrong)
    test(name, LIMIT, async () => {
      using folder = createFolder({ "file.txt": "" });
      const { code, err } = await runRampart(["genai-perf", ...args], { cwd: folder.path });
      assert.equal(code, expected, err);
      for (const part of parts) assert.ok(err.includes(part), `${part}\n${err}`);
      assert.doesNotMatch(err, /internal error/);
      assert.deepEqual(await filesIn(folder.path), ["file.txt"]);
    });

  // A link to itself: rights would not keep root out.
  const locked: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["process-export-files", "-d", "locked"], /^Error: -d: .*locked is not a valid directory/],
    [
      profileArgs("127.0.0.1:1", "--input-file", "locked").slice(1),
      /error: argument --input-file: invalid file_or_directory value: 'locked'/,
    ],
    [
      profileArgs("127.0.0.1:1", "--enable-checkpointing", "--checkpoint-dir", "locked").slice(1),
      /^Error: .*locked\/checkpoint\.json.*\n.*give another folder with --checkpoint-dir/,
    ],
  ];
  for (const [args, message] of locked)
    test(`a folder that cannot be used, before anything is sent: ${args.slice(-2).join(" ")}`, LIMIT, async () => {
      using folder = createFolder({});
      await symlink("locked", join(folder.path, "locked"));
      const { code, err } = await runRampart(["genai-perf", ...args], { cwd: folder.path });
      assert.ok(code === 1 || code === 2, `${code}`);
      assert.match(err, message);
    });

  test("a mix of lengths that does not add up names its flag", LIMIT, async () => {
    const { err } = await runRampart(profileArgs("127.0.0.1:1", "--sequence-distribution", "8,4:50"));
    assert.match(err, /^Error: --sequence-distribution: its percentages add up to 50, not to 100/m);
  });

  const files: readonly (readonly [name: string, text: string | undefined, message: RegExp])[] = [
    ["is not there", undefined, /^Error: x\.yaml: the file cannot be read .*\n {2}Give an existing/],
    ["is no YAML", "a: [1\nb: 2\n", /^Error: x\.yaml:2:1: /],
    ["has no keys", "- a\n", /^Error: x\.yaml:1:1: the file must hold keys/],
  ];
  for (const [name, text, message] of files)
    test(`a configuration file that ${name}, and nothing that only follows from that`, LIMIT, async () => {
      using folder = createFolder(text === undefined ? {} : { "x.yaml": text });
      const { code, err } = await runRampart(["genai-perf", "config", "-f", "x.yaml"], { cwd: folder.path });
      assert.equal(code, 1);
      assert.match(err, message);
      assert.equal(err.match(/^Error: /gm)?.length, 1, err);
    });
});

async function tell(args: string): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const { code, out, err } = await runCaptured(args.split(" "));
  assert.equal(out, "", "nothing is printed");
  assert.equal(err.startsWith("usage: "), code === 2, "usage goes first, and only with argparse's errors");
  return { code, lines: err.split("\n").filter((line) => /^(?:genai-perf.*: error|Error): /.test(line)) };
}

const rounds: readonly (readonly [name: string, args: string, code: number, lines: readonly RegExp[]])[] = [
  [
    "an unknown flag, a wrong value, a broken rule and two wrong flags after --",
    "profile -m m --concurrency x --nonsense --header nocolon -- --bogus --max-threads x",
    2,
    [/unrecognized arguments: --nonsense$/, /--concurrency: invalid int/, /--header/, /'--bogus'/, /--max-threads/],
  ],
  [
    "a wrong value, and a setting out of its range",
    "profile -m m --isl many --max-response-bytes 0",
    2,
    [/^genai-perf profile: error: .*--isl: invalid int value: 'many'/, /^Error: --max-response-bytes: .*lower bounds/],
  ],
  [
    "a missing value, and a flag of another endpoint type",
    "profile -m m --endpoint-type chat --grpc-method a.b/C --url",
    2,
    [/-u\/--url: expected one argument/, /^Error: --grpc-method .*\bchat\b/],
  ],
  [
    "a broken rule, a flag of another endpoint type, and a wrong flag after --",
    "profile -m m --header nocolon --grpc-method a.b/C -- --percentile 200",
    1,
    [/--grpc-method .*\bkserve\b/, /--header/, /Failed to parse --percentile/],
  ],
  [
    "a folder that is none beside an unknown flag",
    "process-export-files -d ./none-such --nonsense",
    2,
    [/unrecognized arguments: --nonsense/, /^Error: -d: .*none-such is not a valid directory/],
  ],
  [
    "a file that is none beside a wrong value",
    "config -f ./none-such.yaml --isl x",
    2,
    [/--isl: invalid int value/, /^Error: .*none-such\.yaml: the file cannot be read/],
  ],
  // What follows from another mistake.
  [
    "a rule that needs the flag that was misspelt",
    "profile -m m --endpoint-type chat --generate-plotz --plot-formats svg",
    2,
    [/unrecognized arguments: --generate-plotz/],
  ],
  [
    "a rule about the endpoint type that could not be read",
    "profile -m m --endpoint-type chatt --backend vllm",
    2,
    [/--endpoint-type: invalid choice: 'chatt'/],
  ],
  [
    "a model that is missing because its flag has no value",
    "profile --model",
    2,
    [/-m\/--model: expected at least one/],
  ],
];

describe("all problems are reported together", () => {
  for (const [name, args, code, expected] of rounds)
    test(name, async () => {
      const told = await tell(args);
      assert.equal(told.code, code);
      assert.equal(told.lines.length, expected.length, told.lines.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(told.lines[index] ?? "", pattern);
    });
});
