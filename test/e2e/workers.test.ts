// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { casesHere } from "../few-cases.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { runRampart, runWithReport } from "./command.ts";
import { CONFIG, INFERRED, MODEL } from "./sequence-model.ts";

/** The command with several workers, against a server that remembers what it got: the numbers are those of one worker. */

const CHAT = { choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }] };
/** How long a response takes. */
const LATENCY_MS = 2;

const folder = makeFolder();
let server: AnsweringServer;
let address: string;
/** How many queries for metadata get an answer; the next one calls `onSilence`. */
let answeredQueries: number;
let onSilence: (response: ServerResponse) => void;

before(async () => {
  server = await startAnsweringServer(answer);
  address = server.url.slice("http://".length);
});
after(() => {
  server?.close();
});

function answer(response: ServerResponse, index: number): void {
  const { path = "" } = server.received[index] ?? {};
  const send = (body: object, status = 200): void => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
  if (path.startsWith("/v2") && !path.endsWith("/infer")) {
    if (answeredQueries-- <= 0) {
      onSilence(response);
      return;
    }
    if (path.endsWith("/stats")) send({ error: "none" }, 404);
    else send(path.endsWith("/config") ? CONFIG : path === "/v2" ? { name: "triton", extensions: [] } : MODEL);
  } else setTimeout(() => send(path.endsWith("/infer") ? INFERRED : CHAT), LATENCY_MS);
}

/** The requests of the load. */
const loadOf = (): AnsweringServer["received"] =>
  server.received.filter(({ path }) => !path.startsWith("/v2") || path.endsWith("/infer"));

function begin(queries = Number.POSITIVE_INFINITY): void {
  (server.received as unknown[]).length = 0;
  answeredQueries = queries;
  onSilence = () => {};
}

/** Writes a scenario. Returns the arguments that run it. */
function scenario(target: string, rest: string, names = ""): string[] {
  const imports = `defineScenario, fixedSchedule, hold, http, input, mix, mlperf, openai, rate, sessions, steps, triton${names}`;
  const text = `import { ${imports} } from "rampart";\nexport default defineScenario({ name: "x", target: ${target}, ${rest} });\n`;
  return ["run", writeIn(folder, "x.ts", text)];
}

const chat = () => `openai("${address}", { model: "x", endpoint: "chat", tokenizer: "${TINY}" })`;
const plain = (path = "p") => `http("${server.url}/${path}", { body: { a: 1 } })`;
const bodies = (): string[] =>
  loadOf()
    .map(({ text }) => text)
    .sort();
const pathCounts = (): Record<string, number> =>
  Object.fromEntries(["/a", "/b"].map((path) => [path, loadOf().filter((one) => one.path === path).length]));

interface Case {
  readonly name: string;
  readonly args: () => string[];
  /** How many requests the run sends. */
  readonly count: number;
  /** What the server got, the same whatever the number of workers. */
  readonly got?: () => unknown;
}

const CASES: readonly Case[] = [
  {
    name: "levels, some below the number of workers",
    args: () => scenario(plain(), "load: steps([1, 2, 5], { requests: 40 })"),
    count: 120,
  },
  { name: "a rate", args: () => scenario(plain(), "load: rate(400, { requests: 120 })"), count: 120 },
  {
    name: "sessions, each turn after the one before",
    args: () =>
      scenario(
        chat(),
        'load: sessions(4), inputs: input.prompts({ isl: 24, osl: 6, sessions: { count: 9, turns: 3, delay: "2 ms" } }), seed: 3',
      ),
    count: 27,
    got: bodies,
  },
  {
    name: "a fixed schedule, each entry once",
    args: () => {
      const file = join(folder, "schedule.jsonl");
      const entry = (_: unknown, at: number) =>
        JSON.stringify({
          timestamp: at * 20,
          payload: [{ model: "x", messages: [{ role: "user", content: `${at}` }] }],
        });
      writeFileSync(file, Array.from({ length: 11 }, entry).join("\n"));
      return scenario(chat(), `load: fixedSchedule(), inputs: input.payloads(${JSON.stringify(file)})`);
    },
    count: 11,
    got: bodies,
  },
  {
    name: "a mix by its weights",
    args: () =>
      scenario(
        `mix([{ name: "a", target: ${plain("a")}, weight: 3 }, { name: "b", target: ${plain("b")}, weight: 1 }])`,
        "load: hold(4, { requests: 80 })",
      ),
    count: 80,
    got: pathCounts,
  },
  {
    name: "MLPerf's lowest number of queries",
    args: () =>
      scenario(
        plain(),
        'load: mlperf.server(200, { queries: 60, for: "10 ms", latency: "10 s" }), maxErrorRate: "100 %"',
      ),
    count: 60,
  },
  {
    name: "MLPerf with one request in flight",
    args: () => scenario(plain(), 'load: mlperf.singleStream({ queries: 40, for: "1 ms" })'),
    count: 40,
  },
];

for (const { name, args, count, got } of casesHere(CASES, ["a rate", "sessions, each turn after the one before"]))
  test(`${name}: three workers send what one sends`, LIMIT, async () => {
    const seen: unknown[] = [];
    for (const workers of ["1", "3"]) {
      begin();
      const { report, stdout, stderr } = await runWithReport([...args(), "--workers", workers]);
      const { sent, completed, failed } = report.requests;
      assert.deepEqual({ sent, completed, failed }, { sent: count, completed: count, failed: 0 }, stdout + stderr);
      assert.equal(loadOf().length, count);
      for (const { completed, metrics } of report.levels) assert.ok(completed > 0 && metrics !== undefined);
      seen.push(got?.());
    }
    assert.deepEqual(seen[1], seen[0]);
  });

/** Follows the sequences that the server got, each with its requests in order. */
function readSequences() {
  const open = new Map<number, number>();
  const ids: number[] = [];
  let mostOpen = 0;
  for (const { headers, bytes } of loadOf()) {
    const head = bytes.subarray(0, Number(headers["inference-header-content-length"] ?? bytes.length));
    const { parameters } = JSON.parse(new TextDecoder().decode(head)) as {
      parameters: { sequence_id: number; sequence_start: boolean; sequence_end: boolean };
    };
    const { sequence_id: id } = parameters;
    assert.equal(open.has(id), !parameters.sequence_start, `sequence ${id}`);
    if (parameters.sequence_start) ids.push(id);
    open.set(id, (open.get(id) ?? 0) + 1);
    mostOpen = Math.max(mostOpen, open.size);
    if (parameters.sequence_end) open.delete(id);
  }
  assert.equal(open.size, 0, "each sequence has its end");
  return { ids, mostOpen };
}

const SEQUENCES: readonly { readonly name: string; readonly flags: readonly string[]; readonly isReused?: boolean }[] =
  [
    { name: "a closed loop", flags: ["--concurrency-range", "4", "--request-count", "80"] },
    {
      name: "a closed loop with as many ids",
      flags: ["--concurrency-range", "4", "--request-count", "80", "--sequence-id-range", "10:14"],
      isReused: true,
    },
    { name: "a rate", flags: ["--request-rate-range", "200", "-p", "150", "-s", "1000000", "-r", "3"] },
    {
      name: "a rate with as many ids",
      flags: ["--request-rate-range", "200", "-p", "150", "-s", "1000000", "-r", "3", "--sequence-id-range", "10:14"],
      isReused: true,
    },
  ];

for (const { name, flags, isReused = false } of casesHere(SEQUENCES, ["a closed loop"]))
  test(`sequences of ${name}: each is whole, and no more run at once than asked for`, LIMIT, async () => {
    begin();
    const model = ["perf_analyzer", "-m", "m", "-u", address, "--sequence-length", "6", "--workers", "3"];
    const { code, report, stdout, stderr } = await runWithReport([...model, ...flags]);
    assert.equal(code, 0, stdout + stderr);
    assert.equal(loadOf().length, report.requests.sent);
    const { ids, mostOpen } = readSequences();
    assert.ok(mostOpen <= 4, `${mostOpen} at once`);
    if (isReused) for (const id of ids) assert.ok(id >= 10 && id < 14, `${id}`);
    else assert.equal(new Set(ids).size, ids.length, "ids are unique");
  });

test("no more is in flight in the report than asked for, and its numbers fit together", LIMIT, async () => {
  begin();
  const args = scenario(plain(), 'load: hold(5, { for: "500 ms" })');
  const { report, stdout, stderr } = await runWithReport([...args, "--workers", "3"]);
  const [level] = report.levels;
  assert.ok(level !== undefined, stdout + stderr);
  assert.ok(level.load.delivered <= 5.001, `${level.load.delivered} in flight`);
  assert.equal(report.requests.completed, loadOf().length);
});

const LIMITS = [
  { load: "hold(4, { requests: 40 })", limit: 4, code: 0 },
  { load: "hold(5, { requests: 40 })", limit: 4, code: 66 },
  { load: 'rate(4000, { for: "1 s" })', limit: 2, code: 66 },
];

for (const { load, limit, code } of LIMITS)
  test(`${load} with at most ${limit} requests in flight: seven workers end with ${code}`, LIMIT, async () => {
    begin();
    const args = [...scenario(plain(), `load: ${load}`), "--max-in-flight", String(limit), "--workers", "7"];
    const outcome = await runWithReport(args);
    assert.equal(outcome.code, code, outcome.stderr);
    assert.equal(outcome.report.requests.sent, loadOf().length);
    if (code !== 0) assert.match(outcome.stderr, new RegExp(`limit of ${limit}:? `));
  });

/** With this number of queries the conductor knows the model; the next ones are those of the threads. */
const CONDUCTOR_QUERIES = 3;

const kserve = (): string[] =>
  scenario(`triton("${address}", { model: "m", protocol: "http" })`, "load: hold(4, { requests: 40 })");

test("an interrupt while a thread waits for the server ends the run at once", LIMIT, async () => {
  begin(CONDUCTOR_QUERIES);
  let interruptedMs = 0;
  const { code, stderr } = await runRampart([...kserve(), "--workers", "2"], {
    onStart: (kill) => {
      onSilence = () => {
        interruptedMs ||= Date.now();
        kill("SIGINT");
        onSilence = () => {};
      };
    },
  });
  assert.equal(code, 130, stderr);
  // A connection that stalls fails after a minute.
  assert.ok(Date.now() - interruptedMs < 50_000, `${Date.now() - interruptedMs} ms`);
});

test("a thread that cannot open its target is one error, with the exit code of one worker", LIMIT, async () => {
  begin(CONDUCTOR_QUERIES);
  onSilence = (response) => response.socket?.destroy();
  const { code, stderr } = await runRampart([...kserve(), "--workers", "3"]);
  assert.equal(code, 69, stderr);
  assert.equal(stderr.match(/rampart: /g)?.length, 1, stderr);
});
