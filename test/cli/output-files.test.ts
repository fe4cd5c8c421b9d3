// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { createFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";
import { scenarioText } from "./scenario-files.ts";

/** What the commands of all front doors do to files that are there already. */

const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
after(() => mock.stop());
const URL_OF_MOCK = `127.0.0.1:${mock.httpPort}`;
const NOBODY = "127.0.0.1:1";

const PAYLOADS = JSON.stringify({ data: [{ payload: [{ model: "m", messages: [{ role: "user", content: "hi" }] }] }] });
const scenario = (url: string): string =>
  scenarioText({
    target: `openai("${url}", { model: "m", tokenizer: "none" })`,
    inputs: 'input.payloads("./in.json")',
    load: "hold(1, { requests: 2 })",
  });
const perf = (url: string): string[] =>
  `perf_analyzer -m m -u ${url} --async --service-kind openai --endpoint v1/chat/completions --input-data in.json --request-count 2`.split(
    " ",
  );
const profile = (url: string): string[] => [
  ...`genai-perf profile -m tiny -u ${url} --endpoint-type chat --osl 2 --request-count 2`.split(" "),
  ...["--tokenizer", TINY, "--artifact-dir", "out"],
];
const ARTIFACTS = "out/tiny-openai-chat-concurrency1";

const FILES = {
  "in.json": PAYLOADS,
  "x.ts": scenario(URL_OF_MOCK),
  "y.ts": scenario(URL_OF_MOCK),
  "lines.jsonl": '{"text":"hello"}\n',
};

interface Clash {
  readonly what: string;
  readonly args: readonly string[];
  readonly code: number;
  /** What must stay as it is. */
  readonly input: string;
  readonly said: RegExp;
}

const CLASHES: readonly Clash[] = [
  {
    what: "scenario, its payloads",
    args: ["run", "x.ts", "--json", "in.json"],
    code: 64,
    input: "in.json",
    said: /--json: is also a file that the run reads, .*in\.json \(got in\.json\)/,
  },
  {
    what: "two scenarios, the payloads of one",
    args: ["run", "x.ts", "y.ts", "--json", "in.json"],
    code: 64,
    input: "in.json",
    said: /--json: is also a file that the run reads, .*in\.json \(got in\.json\)/,
  },
  {
    what: "a sweep, its payloads",
    args: ["run", "x.ts", "--sweep", "users=1,2", "--json", "in.json"],
    code: 64,
    input: "in.json",
    said: /--json: is also a file that the run reads, .*in\.json \(got in\.json\)/,
  },
  {
    what: "scenario, its payloads by another name",
    args: ["run", "x.ts", "--profile-export-file", "hard.json"],
    code: 64,
    input: "in.json",
    said: /--profile-export-file: is also a file that the run reads/,
  },
  {
    what: "perf_analyzer, its input data",
    args: [...perf(URL_OF_MOCK), "-f", "in.json"],
    code: 99,
    input: "in.json",
    said: /is also a file that the run reads \(got 'in\.json'\)/,
  },
  {
    what: "perf_analyzer, its input data by a link",
    args: [...perf(URL_OF_MOCK), "--json", "soft.json"],
    code: 99,
    input: "in.json",
    said: /is also a file that the run reads, in\.json/,
  },
  {
    what: "genai-perf, its prompts",
    args: [...profile(URL_OF_MOCK), "--input-file", "lines.jsonl", "--records", "lines.jsonl"],
    code: 1,
    input: "lines.jsonl",
    said: /--records: is also a file that the run reads/,
  },
  {
    what: "genai-perf, the requests of the run before",
    args: [...profile(URL_OF_MOCK), "--input-file", "payload:out/tiny-openai-chat/inputs.json"],
    code: 1,
    input: "out/tiny-openai-chat/inputs.json",
    said: /--artifact-dir: is also a file that the run reads/,
  },
];

describe("output files", () => {
  for (const { what, args, code, input, said } of CLASHES)
    test(`are never an input of the same run: ${what}`, LIMIT, async () => {
      using folder = createFolder(FILES);
      linkSync(join(folder.path, "in.json"), join(folder.path, "hard.json"));
      symlinkSync("in.json", join(folder.path, "soft.json"));
      const path = join(folder.path, input);
      mkdirSync(dirname(path), { recursive: true });
      if (!existsSync(path)) writeFileSync(path, '{"text":"old"}\n');
      const before = readFileSync(path, "utf8");
      const result = await runInFolder(folder.path, args);
      assert.equal(result.code, code, result.text);
      assert.match(result.text, said);
      assert.equal(readFileSync(path, "utf8"), before);
      assert.ok(lstatSync(join(folder.path, "soft.json")).isSymbolicLink());
    });

  const TWINS: readonly (readonly [args: readonly string[], code: number, said: readonly string[]])[] = [
    [["run", "x.ts", "--html", "same", "--junit", "./same"], 64, ["--html", "--junit"]],
    [["http", NOBODY, "-n", "1", "--records", "same", "--json", "same"], 64, ["--records", "--json"]],
    [[...perf(NOBODY), "-f", "same", "--json", "same"], 99, ["-f", "--json"]],
    [[...perf(NOBODY), "--html", "same", "--junit", "soft.json"], 99, ["--html", "--junit"]],
    [[...perf(NOBODY), "--profile-export-file", "same", "--markdown", "same"], 99, ["--markdown"]],
    [[...profile(NOBODY), "--html", "same", "--junit", "same"], 1, ["--html", "--junit"]],
    [
      [...profile(NOBODY), "--profile-export-file", "x.json", "--records", `${ARTIFACTS}/x.json`],
      1,
      ["--profile-export-file", "--records"],
    ],
    [
      [...profile(NOBODY), "--markdown", `${ARTIFACTS}/profile_export_genai_perf.csv`],
      1,
      ["--markdown: is also the file of --artifact-dir"],
    ],
    [[...profile(NOBODY), "--profile-export-file", "inputs.json"], 1, ["--profile-export-file"]],
  ];
  for (const [args, code, said] of TWINS)
    test(
      `are each a file of their own, before anything is sent: ${args[0]} ${args.slice(-4).join(" ")}`,
      LIMIT,
      async () => {
        using folder = createFolder({ ...FILES, "x.ts": scenario(NOBODY) });
        symlinkSync("same", join(folder.path, "soft.json"));
        mkdirSync(join(folder.path, ARTIFACTS), { recursive: true });
        const result = await runInFolder(folder.path, args);
        assert.equal(result.code, code, result.text);
        for (const flag of said) assert.ok(result.text.includes(flag), result.text);
        assert.match(result.text, /is also the file of -/);
        assert.equal(existsSync(join(folder.path, "same")), false);
      },
    );

  const OUTPUTS = ["r.json", "r.csv", "p.json"] as const;
  // As in the original its export must not be there already.
  const PERF_OUTPUTS = ["r.json", "r.csv"] as const;
  const flags = (csv: string): string[] => ["--json", "r.json", csv, "r.csv", "--profile-export-file", "p.json"];
  const RUNS: readonly (readonly [what: string, args: (url: string) => string[], stale: readonly string[]])[] = [
    ["scenario", () => ["run", "x.ts", ...flags("--csv")], OUTPUTS],
    ["perf_analyzer, openai", (url) => [...perf(url), ...flags("-f")], PERF_OUTPUTS],
    ["perf_analyzer, triton", (url) => `perf_analyzer -m m -u ${url}`.split(" ").concat(flags("-f")), PERF_OUTPUTS],
    [
      "genai-perf",
      (url) => [...profile(url), "--records", "r.jsonl"],
      ["profile_export.json", "profile_export_genai_perf.json", "profile_export_genai_perf.csv"].map(
        (name) => `${ARTIFACTS}/${name}`,
      ),
    ],
  ];
  for (const [what, args, stale] of RUNS)
    test(`of an earlier run do not outlive one that fails: ${what}`, LIMIT, async () => {
      using folder = createFolder({ ...FILES, "x.ts": scenario(NOBODY) });
      for (const name of stale) {
        mkdirSync(dirname(join(folder.path, name)), { recursive: true });
        writeFileSync(join(folder.path, name), "stale");
      }
      const { code, text } = await runInFolder(folder.path, args(NOBODY));
      assert.notEqual(code, 0, text);
      for (const name of stale) {
        const path = join(folder.path, name);
        assert.ok(!existsSync(path) || !readFileSync(path, "utf8").includes("stale"), `${name} is left`);
      }
      const parts = readdirSync(folder.path, { recursive: true }).filter((name) =>
        /\.(?:part|failed)$/.test(String(name)),
      );
      assert.deepEqual(parts, []);
    });

  test("of an earlier run stay where a mistake kept the run from beginning", LIMIT, async () => {
    using folder = createFolder({ ...FILES, "r.json": "earlier" });
    const wrong = await runInFolder(folder.path, ["run", "x.ts", "--json", "r.json", "--url", "not an address"]);
    assert.equal(wrong.code, 64, wrong.text);
    assert.equal(readFileSync(join(folder.path, "r.json"), "utf8"), "earlier");
  });

  const PIPES: readonly (readonly [what: string, args: readonly string[], expected: RegExp])[] = [
    ["scenario", ["run", "x.ts", "--json", "pipe"], /"version": 1,[\s\S]*\n\}\n$/],
    ["scenario, export", ["run", "x.ts", "--profile-export-file", "pipe"], /^\{"experiments":\[[\s\S]*\}$/],
    ["perf_analyzer, JSON", [...perf(URL_OF_MOCK), "--json", "pipe"], /"version": 1,[\s\S]*\n\}\n$/],
    ["perf_analyzer, CSV", [...perf(URL_OF_MOCK), "-f", "pipe"], /^Concurrency,Inferences\/Second[\s\S]*\n$/],
    ["genai-perf, records", [...profile(URL_OF_MOCK), "--records", "pipe"], /^(?:\{"metadata".*\}\n){2}$/],
  ];
  for (const [what, args, expected] of PIPES)
    test(`are written to a pipe, which stays one: ${what}`, LIMIT, async () => {
      using folder = createFolder(FILES);
      const pipe = join(folder.path, "pipe");
      execFileSync("mkfifo", [pipe]);
      const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const { code, text } = await runInFolder(folder.path, args);
        assert.equal(code, 0, text);
        const bytes = Buffer.alloc(256 * 1024);
        assert.match(bytes.toString("utf8", 0, readSync(fd, bytes)), expected);
      } finally {
        closeSync(fd);
      }
      assert.ok(lstatSync(pipe).isFIFO());
    });

  test("leave devices alone", LIMIT, async () => {
    using folder = createFolder(FILES);
    // Not /dev/null itself: where this fails, it would be gone.
    symlinkSync("/dev/null", join(folder.path, "null"));
    for (const args of [
      ["run", "x.ts", "--json", "null", "--csv", "null", "--profile-export-file", "null"],
      [...perf(URL_OF_MOCK), "--json", "null", "-f", "null"],
      [...profile(URL_OF_MOCK), "--records", "null"],
    ]) {
      const { code, text } = await runInFolder(folder.path, args);
      assert.equal(code, 0, text);
      assert.ok(lstatSync(join(folder.path, "null")).isSymbolicLink());
    }
  });
});
