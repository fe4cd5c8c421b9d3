// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sum } from "../../src/plan/units.ts";
import { casesHere } from "../few-cases.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { runRampart, runWithReport } from "./command.ts";
import { CONFIG, INFERRED, MODEL } from "./sequence-model.ts";

/** The files of single requests of several workers hold exactly the requests that those of one worker hold. */

const folder = makeFolder();
let server: AnsweringServer;
let address: string;

before(async () => {
  server = await startAnsweringServer((response, index) => {
    const { path = "", text = "" } = server.received[index] ?? {};
    const send = (body: object, status = 200): void => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    if (path.startsWith("/v2")) {
      if (path.endsWith("/stats")) send({ error: "none" }, 404);
      else if (path.endsWith("/infer")) setTimeout(() => send(INFERRED), 1);
      else send(path.endsWith("/config") ? CONFIG : path === "/v2" ? { name: "triton", extensions: [] } : MODEL);
    } else if (text.includes('"fails"')) send({ error: "busy" }, 503);
    else send({ path, length: text.length });
  });
  address = server.url.slice("http://".length);
});
after(() => {
  server?.close();
});

interface Line {
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly request_start_ns: number;
    readonly request_end_ns: number;
    readonly window?: number;
    readonly benchmark_phase: string;
  };
  readonly metrics: Readonly<Record<string, { readonly value: unknown }>>;
  readonly error?: object;
}

interface Export {
  readonly experiments: readonly {
    readonly experiment: object;
    readonly requests: readonly (Readonly<Record<string, unknown>> & {
      readonly timestamp: number;
      readonly response_timestamps: readonly number[];
    })[];
    readonly window_boundaries: readonly number[];
  }[];
}

/** What a line says that does not depend on time. */
function timeless({ metadata, metrics, error }: Line): string {
  const { request_start_ns: _, request_end_ns: __, request_ack_ns, request_start_time, ...rest } = metadata;
  const names = ["http_req_chunks_received", "request_content_size", "response_content_size", "output_sequence_length"];
  const values = names.map((name) => metrics[name]?.value);
  return JSON.stringify([Object.entries(rest).sort(), values, Object.keys(metrics).sort(), error]);
}

const sorted = (texts: readonly string[]): string[] => [...texts].sort();

const readLines = (file: string): Line[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

/** Returns what an export says that does not depend on time. */
function timelessExport({ experiments }: Export): object[] {
  return experiments.map(({ experiment, requests }) => ({
    experiment,
    requests: sorted(
      requests.map(({ timestamp: _, response_timestamps: times, ...rest }) => JSON.stringify([times.length, rest])),
    ),
  }));
}

/** Each request lies in its windows, and once only. */
function checkExport({ experiments }: Export, name: string): void {
  for (const { requests, window_boundaries: bounds } of experiments) {
    assert.deepEqual(bounds, [...bounds].sort(), `${name}: boundaries follow each other`);
    for (const { timestamp, response_timestamps: times } of requests) {
      const endNs = times.at(-1) as number;
      const late = Math.max((bounds[0] as number) - endNs, endNs - (bounds.at(-1) as number));
      assert.ok(timestamp < endNs && late < 1000, `${name}: ended ${late} ns outside of its window`);
    }
  }
}

interface Case {
  readonly name: string;
  readonly args: () => string[];
  /** Number of requests. Absent: it depends on time, and the files hold what the server got. */
  readonly count?: number;
  /** Whether only some of the fields do not depend on time. Default: all that have no time. */
  readonly same?: (line: Line) => unknown;
  /** The options of the files. Default: those of records and of a profile export. */
  readonly files?: readonly ("--records" | "--profile-export-file")[];
}

/** The tokens of a stream come in other pieces each time. */
const ofStream = ({ metadata, metrics, error }: Line): unknown => [
  ...[metadata.benchmark_phase, metadata.window, metadata["conversation_id"], error],
  ...["request_content_size", "output_sequence_length", "input_sequence_length"].map((name) => metrics[name]?.value),
];

/** Writes a scenario. Returns the arguments that run it. */
function scenario(target: string, rest: string): string[] {
  const names = "defineScenario, embedded, embeddedLlm, hold, http, input, mix, phase, rate, sessions, steps, warmup";
  const text = `import { ${names} } from "rampart";\nexport default defineScenario({ name: "x", target: ${target}, ${rest} });\n`;
  return ["run", writeIn(folder, "x.ts", text)];
}

/** Payloads that all differ; every fifth fails. */
function payloadFile(): string {
  const file = join(folder, "payloads.jsonl");
  const line = (_: unknown, at: number): string =>
    JSON.stringify({ payload: [{ at, [at % 5 === 4 ? "fails" : "a"]: 1 }] });
  writeFileSync(file, Array.from({ length: 60 }, line).join("\n"));
  return JSON.stringify(file);
}

const plain = (path: string): string => `http("${server.url}/${path}", { body: { a: 1 } })`;

const CASES: readonly Case[] = [
  {
    name: "levels, some below the number of workers",
    args: () => scenario(plain("p"), "load: steps([1, 2, 5], { requests: 60 })"),
    count: 180,
  },
  {
    name: "a rate of different payloads, some of which fail",
    args: () =>
      scenario(
        `http("${server.url}/p", { method: "POST" })`,
        `load: rate(150, { requests: 90 }), inputs: input.payloads(${payloadFile()}), maxErrorRate: "100 %"`,
      ),
    count: 90,
  },
  {
    name: "a closed loop after its warm-up",
    args: () => scenario(plain("p"), "load: hold(3, { requests: 120 }), warmupRequests: 30"),
  },
  {
    name: "phases that are announced after the tokens of the phase before",
    args: () =>
      scenario(
        `embeddedLlm({ endpoint: "chat", tokenizer: "${TINY}", streaming: true })`,
        `load: [warmup({ requests: 9 }, hold(3)), phase("a", hold(3, { requests: 60 })), phase("b", hold(5, { requests: 200 }))],
         inputs: input.prompts({ isl: 24, osl: 6, count: 12 }), seed: 3`,
      ),
    count: 269,
    // The phase in which a request ends depends on time.
    same: ({ metrics }) => metrics["request_content_size"]?.value,
  },
  {
    name: "gRPC streams",
    args: () => scenario('embedded({ protocol: "grpc", streaming: true })', "load: hold(4, { requests: 90 })"),
    count: 90,
  },
  {
    name: "streams of tokens",
    args: () =>
      scenario(
        `embeddedLlm({ endpoint: "chat", tokenizer: "${TINY}", streaming: true, timeToFirstToken: "2 ms" })`,
        "load: rate(80, { requests: 40 }), inputs: input.prompts({ isl: 24, osl: 6, count: 12 }), seed: 3",
      ),
    count: 40,
    same: ofStream,
  },
  {
    name: "sessions",
    args: () =>
      scenario(
        `embeddedLlm({ endpoint: "chat", tokenizer: "${TINY}" })`,
        "load: sessions(4), inputs: input.prompts({ isl: 24, osl: 6, sessions: { count: 9, turns: 3 } }), seed: 3",
      ),
    count: 27,
  },
  {
    name: "a mix",
    args: () =>
      scenario(
        `mix([{ name: "a", target: ${plain("a")}, weight: 3 }, { name: "b", target: ${plain("b")}, weight: 1 }])`,
        "load: hold(4, { requests: 80 })",
      ),
    count: 80,
  },
  {
    name: "sequences",
    args: () => [
      ...["perf_analyzer", "-m", "m", "-u", address, "--sequence-length", "5", "--sequence-length-variation", "0"],
      ...["--concurrency-range", "4", "--request-count", "80", "--sequence-id-range", "7"],
    ],
    files: ["--profile-export-file"],
  },
];

for (const { name, args, count, same = timeless, files = ["--records", "--profile-export-file"] } of casesHere(CASES, [
  "levels, some below the number of workers",
  "streams of tokens",
]))
  test(`${name}: the files of three workers hold the requests of one`, LIMIT, async () => {
    const seen: object[] = [];
    for (const workers of ["1", "3"]) {
      (server.received as unknown[]).length = 0;
      const paths = files.map((flag) => join(folder, `${flag}${workers}`));
      for (const path of paths) rmSync(path, { force: true });
      const flags = files.flatMap((flag, at) => [flag, paths[at] as string]);
      const { report, stdout, stderr } = await runWithReport([...args(), ...flags, "--workers", workers]);
      const output = stdout + stderr;
      const { sent } = report.requests;
      assert.equal(sent, count ?? loadOf().length, output);
      const counted = report.levels.map(({ completed }) => completed);
      const exported = JSON.parse(readFileSync(paths.at(-1) as string, "utf8")) as Export;
      checkExport(exported, output);
      assert.deepEqual(
        exported.experiments.map(({ requests }) => requests.length),
        counted,
        output,
      );
      const lines = files.includes("--records") ? readLines(paths[0] as string) : [];
      if (lines.length > 0) checkLines(lines, { count: sent, counted }, output);
      assert.deepEqual(sequencesOf(exported), sequencesGot(), output);
      seen.push([
        sorted(lines.map((line) => JSON.stringify(same(line)))),
        same === timeless ? timelessExport(exported) : [],
      ]);
    }
    if (count !== undefined) assert.deepEqual(seen[1], seen[0]);
  });

/** The requests of the load that the server got. */
const loadOf = (): AnsweringServer["received"] =>
  server.received.filter(({ path }) => !path.startsWith("/v2") || path.endsWith("/infer"));

/** The number of requests of each sequence in an export. */
function sequencesOf({ experiments }: Export): Readonly<Record<string, number>> {
  const ids = experiments.flatMap(({ requests }) => requests.flatMap((one) => one["sequence_id"] ?? []));
  return countEach(ids as number[]);
}

/** The number of requests of each sequence that the server got. */
function sequencesGot(): Readonly<Record<string, number>> {
  const ids = loadOf().flatMap(({ headers, bytes }) => {
    const head = bytes.subarray(0, Number(headers["inference-header-content-length"] ?? bytes.length));
    const { parameters } = JSON.parse(new TextDecoder().decode(head)) as { parameters?: { sequence_id?: number } };
    return parameters?.sequence_id ?? [];
  });
  return countEach(ids);
}

function countEach(values: readonly number[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** All requests have a line, and those that a level counts are in its windows. */
function checkLines(
  lines: readonly Line[],
  { count, counted }: { readonly count: number; readonly counted: readonly number[] },
  output: string,
): void {
  assert.equal(lines.length, count, output);
  for (const { metadata } of lines) assert.ok(metadata.request_end_ns > metadata.request_start_ns, output);
  const measured = lines.filter(({ metadata, error }) => metadata.window !== undefined && error === undefined);
  assert.equal(measured.length, sum(counted), output);
}

test("onRecord runs in the main thread, once for each request, with its number, tokens and level", LIMIT, async () => {
  const text = `import { defineScenario, embeddedLlm, input, steps } from "rampart";
const seen = new Map<number, string>();
let calls = 0;
export default defineScenario({
  name: "hook",
  target: embeddedLlm({ endpoint: "chat", tokenizer: ${JSON.stringify(TINY)} }),
  load: steps([1, 4], { requests: 30 }),
  inputs: input.prompts({ isl: 24, osl: 6 }),
  teardown: () => {
    console.error(JSON.stringify({ calls, numbers: [...seen.keys()].sort((a, b) => a - b), levels: [...seen.values()] }));
  },
  onRecord: ({ index, level, tokens, outcome }) => {
    calls++;
    seen.set(index, [outcome, level?.value, tokens?.outputTokens].join(" "));
  },
});
`;
  const file = writeIn(folder, "hook.ts", text);
  const { code, stderr } = await runRampart(["run", file, "--workers", "3", "--quiet"]);
  assert.equal(code, 0, stderr);
  const line = stderr.split("\n").find((one) => one.startsWith("{")) ?? "{}";
  const { calls, numbers, levels } = JSON.parse(line) as { calls: number; numbers: number[]; levels: string[] };
  assert.equal(calls, 60, stderr);
  assert.deepEqual(
    numbers,
    Array.from({ length: 60 }, (_, at) => at),
  );
  for (const value of [1, 4]) assert.equal(levels.filter((one) => one === `completed ${value} 6`).length, 30, stderr);
});

/** The statistics of a GenAI-Perf report. */
type Statistics = Readonly<Record<string, Readonly<Record<string, number>>>>;

test(
  "genai-perf mode: the statistics of three workers are those of the responses in their profile export",
  LIMIT,
  async () => {
    const input = join(folder, "hosts");
    const flags = [
      ...["genai-perf", "profile", "-m", "x", "--endpoint-type", "chat", "--streaming", "--tokenizer", TINY],
      ...["--concurrency", "5", "--request-count", "60", "--artifact-dir", join(input, "one")],
    ];
    const { code, stdout, stderr } = await withMock((url) => runRampart([...flags, "-u", url, "--workers", "3"]));
    assert.equal(code, 0, stdout + stderr);
    const merged = join(folder, "merged");
    const again = await runRampart(["genai-perf", "process-export-files", "-d", input, "--artifact-dir", merged]);
    assert.equal(again.code, 0, again.stdout + again.stderr);
    const [own, read] = [readStatistics(input), readStatistics(merged)];
    for (const name of ["time_to_first_token", "inter_token_latency", "request_latency", "output_sequence_length"])
      assert.deepEqual(own[name], read[name], name);
    assert.equal(own["request_count"]?.["avg"], 60);
  },
);

/** Runs with a mock of a language model. */
async function withMock<T>(run: (url: string) => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let stop = (): void => {};
  const mock = runRampart(["mock", "--http-port", "0", "--grpc-port", "0", "--ttft", "3ms", "--itl", "1ms"], {
    onStart: (kill) => {
      stop = () => kill("SIGTERM");
    },
    onStdout: (text) => {
      const url = /127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (url !== undefined) resolve(url);
    },
  });
  try {
    const url = await Promise.race([promise, mock.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    return await run(url);
  } finally {
    stop();
    await mock;
  }
}

function readStatistics(root: string): Statistics {
  const [file] = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("_genai_perf.json"),
  );
  return JSON.parse(readFileSync(join(root, file as string), "utf8")) as Statistics;
}
