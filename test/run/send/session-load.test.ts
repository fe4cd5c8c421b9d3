import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { RECORD_DELAYED } from "../../../src/measure/records.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { TokensPlan } from "../../../src/plan/tokens.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { ProfileExport } from "../../../src/report/profile-export.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { type RunningPlan, startPlan } from "../../../src/run/run-plan.ts";
import { makeFolder } from "../../make-folder.ts";
import { makeOpenAiTarget, makePlan } from "../../plan/make-plan.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { LIMIT } from "../../time-limit.ts";
import { type DriverUnderTest, makeDriver, starterOf } from "./fake-client.ts";
import { makeSessionFeed } from "./make-sessions.ts";

/** Conversations against a server that answers each turn with its number. */

const EVENTS = { "Content-Type": "text/event-stream" };

interface Message {
  readonly role: string;
  readonly content: string;
}

interface Received {
  /** The last question: `session turn`. */
  readonly asked: string;
  readonly messages: readonly Message[];
  /** Requests that had not been answered when it came, itself included. */
  readonly outstanding: number;
  readonly atMs: number;
  answeredAtMs: number;
}

interface Turn {
  readonly session: string;
  readonly delayMs?: number;
}

type Answer = (response: ServerResponse, request: Received) => void;

const answerChat: Answer = (response, { asked }) =>
  response.end(JSON.stringify({ object: "chat.completion", choices: [{ message: { content: `re ${asked}` } }] }));

interface Ran {
  readonly result: RunResult;
  readonly received: readonly Received[];
  readonly experiment: {
    readonly experiment: object;
    readonly requests: readonly { readonly request_inputs: Readonly<Record<string, unknown>> }[];
    readonly window_boundaries: readonly number[];
  };
}

interface Options {
  readonly concurrency: number;
  readonly isStreaming?: boolean;
  readonly endpoint?: string;
  readonly clientKind?: Plan["client"]["kind"];
  readonly tokens?: TokensPlan;
  /** Told of the run that has begun. */
  readonly onRunning?: (running: RunningPlan) => void;
}

async function run(turns: readonly Turn[], answer: Answer, options: Options): Promise<Ran> {
  const { concurrency, isStreaming = false, endpoint = "v1/chat/completions", tokens } = options;
  const folder = makeFolder();
  const { server, received } = createRecorder(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const file = join(folder, "inputs.json");
  const profileExportFile = join(folder, "export.json");
  await writeFile(file, JSON.stringify({ data: toEntries(turns) }));
  const plan: Plan = {
    ...makePlan({
      load: { kind: "session-concurrency", concurrency },
      measurement: { mode: { kind: "requests", count: null }, ...(tokens === undefined ? {} : { tokens }) },
      client: { callMode: "async", kind: options.clientKind ?? "own" },
      outputs: { style: "genai-perf", files: { profileExport: profileExportFile } },
      behaviour: { skipsRunCounters: true },
    }),
    target: makeOpenAiTarget(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { endpoint, isStreaming }),
    inputs: { kind: "payloads", file },
  };
  try {
    checkPlan(plan);
    const report = new ProfileExport(plan, { out: () => {}, err: () => {} }, profileExportFile);
    const running = startPlan(plan, { openObserver: () => Promise.resolve(report), check: () => Promise.resolve() });
    options.onRunning?.(running);
    const result = await running.result;
    report.finish(result);
    // Where nothing was measured, there is no export.
    const text = await readFile(profileExportFile, "utf8").catch(() => '{"experiments":[]}');
    return { result, received, experiment: JSON.parse(text).experiments[0] };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function createRecorder(answer: Answer): { server: ReturnType<typeof createServer>; received: Received[] } {
  const received: Received[] = [];
  let outstanding = 0;
  const server = createServer(async (request, response) => {
    const { messages = [], prompt = "" } = JSON.parse(await readBody(request));
    const asked = messages.at(-1)?.content ?? prompt;
    const entry = { asked, messages, outstanding: ++outstanding, atMs: performance.now(), answeredAtMs: 0 };
    received.push(entry);
    response.once("close", () => outstanding--);
    // Before the response leaves, so that no pause is shorter than the client's own.
    entry.answeredAtMs = performance.now();
    answer(response, entry);
  });
  return { server, received };
}

/** The n-th turn of session `a` asks `a n`. */
function toEntries(turns: readonly Turn[]): object[] {
  const counts = new Map<string, number>();
  return turns.map(({ session, delayMs }) => {
    const number = (counts.get(session) ?? 0) + 1;
    counts.set(session, number);
    const asked = `${session} ${number}`;
    const payload = [{ prompt: asked, messages: [{ role: "user", content: asked }], max_tokens: 4 }];
    return { payload, session_id: [session], ...(delayMs === undefined ? {} : { delay: [delayMs] }) };
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += String(piece);
  return body;
}

/** So many turns of each session, one session after the other. */
function sessions(names: string, turnCount: number, delayMs?: number): Turn[] {
  const pause = delayMs === undefined ? {} : { delayMs };
  return [...names].flatMap((session) => Array.from({ length: turnCount }, () => ({ session, ...pause })));
}

/** What the turn of a session is sent with when every turn before was answered. */
function historyOf(asked: string): Message[] {
  const [session, number] = asked.split(" ");
  return Array.from({ length: Number(number) }, (_, index) => `${session} ${index + 1}`).flatMap((question, index) => [
    ...(index === 0 ? [] : [{ role: "assistant", content: `re ${session} ${index}` }]),
    { role: "user", content: question },
  ]);
}

const askedOf = (received: readonly Received[], session: string): string[] =>
  received.map(({ asked }) => asked).filter((asked) => asked.startsWith(session));

describe("sessions", () => {
  test("each is held once, in the file's order, its turns with the whole history", LIMIT, async () => {
    const turns = sessions("abcde", 3);
    // The turns of a session need not stand together.
    turns.push(...sessions("a", 1));
    const first: (() => void)[] = [];
    // The first responses wait for each other: both sessions are under way.
    const answer: Answer = (response, request) => {
      if (first.length >= 2) return answerChat(response, request);
      first.push(() => answerChat(response, request));
      if (first.length === 2) for (const give of first) give();
    };
    const { result, received, experiment } = await run(turns, answer, { concurrency: 2 });
    assert.deepEqual([result.completedCount, result.failedCount, result.sentCount], [16, 0, 16]);
    assert.deepEqual(result.sessions, { sessionCount: 5, cutCount: 0, unsentCount: 0 });
    assert.equal(result.prepared.requestCount, 16);
    for (const { asked, messages } of received) assert.deepEqual(messages, historyOf(asked), asked);
    assert.deepEqual(askedOf(received, "a"), ["a 1", "a 2", "a 3", "a 4"]);
    for (const session of "bcde") assert.equal(askedOf(received, session).length, 3);
    const begun = received.filter(({ asked }) => asked.endsWith(" 1")).map(({ asked }) => asked[0]);
    assert.deepEqual(begun.slice(2), ["c", "d", "e"]);
    assert.equal(Math.max(...received.map(({ outstanding }) => outstanding)), 2);
    assert.equal(result.levels[0]?.window.requestCount, 16);
    assert.deepEqual(experiment.experiment, { mode: "request_rate", value: 0 });
    assert.deepEqual(experiment.window_boundaries, [0, 2 ** 64]);
    assert.equal(experiment.requests.length, 16);
  });

  test("the export has each request as it was sent, with its session and its pause", LIMIT, async () => {
    const turns = [{ session: "a", delayMs: 1 }, { session: "a" }];
    const { experiment } = await run(turns, answerChat, { concurrency: 1 });
    const body = (asked: string): string =>
      JSON.stringify({ prompt: asked, messages: historyOf(asked), max_tokens: 4 });
    assert.deepEqual(
      experiment.requests.map(({ request_inputs }) => Object.entries(request_inputs)),
      [
        [
          ["delay", 1],
          ["session_id", "a"],
          ["payload", body("a 1")],
        ],
        [
          ["session_id", "a"],
          ["payload", body("a 2")],
        ],
      ],
    );
  });

  for (const clientKind of ["own", "undici"] as const)
    test(`streamed responses are joined for the next turn (${clientKind})`, LIMIT, async () => {
      const event = (content: string): string =>
        `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ delta: { content } }] })}\n\n`;
      const answer: Answer = (response, { asked }) => {
        response.writeHead(200, EVENTS);
        response.write(event("re "));
        setImmediate(() => response.end(`${event(asked)}data: [DONE]\n\n`));
      };
      const { result, received } = await run(sessions("ab", 3), answer, {
        concurrency: 2,
        isStreaming: true,
        clientKind,
      });
      assert.equal(result.completedCount, 6);
      for (const { asked, messages } of received) assert.deepEqual(messages, historyOf(asked), asked);
    });

  test(
    "a turn waits for its delay after the previous response, which is not overhead of the client",
    LIMIT,
    async () => {
      const turns = [...sessions("a", 3, 60), ...sessions("b", 6, 0)];
      const { received, result } = await run(turns, answerChat, { concurrency: 2 });
      const ofA = received.filter(({ asked }) => asked.startsWith("a"));
      for (const [index, { atMs }] of ofA.slice(1).entries()) {
        const pauseMs = atMs - (ofA[index] as Received).answeredAtMs;
        assert.ok(pauseMs >= 55, `${pauseMs} ms after the response`);
      }
      assert.equal(result.completedCount, 9);
      // A user who thinks is no overhead of the client: that is what sending and reading take.
      const { overheadPct, sendMeanNs, receiveMeanNs, requestCount, durationNs } = (result.levels[0] as LevelResult)
        .window;
      const busyRatio = ((sendMeanNs + receiveMeanNs) * requestCount) / (2 * durationNs);
      assert.ok(Math.abs(overheadPct - 100 * busyRatio) < 1e-6, `${overheadPct} %, ${busyRatio}`);
    },
  );

  const faults: readonly (readonly [name: string, fault: Answer])[] = [
    ["an error's status", (response) => response.writeHead(500).end('{"error":{"message":"boom"}}')],
    ["a reset connection", (response) => void response.socket?.resetAndDestroy()],
    ["an error in place of the response", (response) => response.end('{"error":{"message":"no memory"}}')],
  ];
  for (const [name, fault] of faults)
    test(`${name} ends its session; the rest of its turns is counted and the others are held`, LIMIT, async () => {
      const failing = new Set(["a 2", "c 1", "d 3"]);
      const answer: Answer = (response, request) =>
        failing.has(request.asked) ? fault(response, request) : answerChat(response, request);
      const { result, received, experiment } = await run(sessions("abcd", 3), answer, { concurrency: 2 });
      assert.deepEqual(result.sessions, { sessionCount: 4, cutCount: 2, unsentCount: 3 });
      assert.deepEqual([result.sentCount, result.completedCount, result.failedCount], [9, 6, 3]);
      assert.deepEqual(askedOf(received, "a"), ["a 1", "a 2"]);
      assert.deepEqual(askedOf(received, "b"), ["b 1", "b 2", "b 3"]);
      assert.deepEqual(askedOf(received, "c"), ["c 1"]);
      assert.equal(experiment.requests.length, 6);
      assert.equal(result.error, undefined);
    });

  test("a response that cannot be read ends its session, also the last one of the run", LIMIT, async () => {
    const answer: Answer = (response) => response.writeHead(200, EVENTS).end("data: {oops\n\n");
    const { result, received } = await run(sessions("ab", 2), answer, { concurrency: 1, isStreaming: true });
    assert.deepEqual(askedOf(received, ""), ["a 1", "b 1"]);
    assert.deepEqual(result.sessions, { sessionCount: 2, cutCount: 2, unsentCount: 2 });
  });

  test(
    "a stream cut before its end mark ends its session, with the reason; without any marks none does",
    LIMIT,
    async () => {
      const event = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
      const run2 = async (isMarked: (asked: string) => boolean) => {
        const answer: Answer = (response, { asked }) =>
          response.writeHead(200, EVENTS).end(`${event}${isMarked(asked) ? "data: [DONE]\n\n" : ""}`);
        return (await run(sessions("ab", 3), answer, { concurrency: 1, isStreaming: true })).result.sessions;
      };
      assert.deepEqual(await run2(() => false), { sessionCount: 2, cutCount: 0, unsentCount: 0 });
      const { unreadReason, ...counts } = (await run2((asked) => asked !== "b 1")) ?? {};
      assert.deepEqual(counts, { sessionCount: 2, cutCount: 1, unsentCount: 2 });
      assert.match(unreadReason ?? "", /^the stream ended after one event without its end mark/);
    },
  );

  const tokens: TokensPlan = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" };
  for (const [pauseMs, more] of [
    [0, ["a 2"]],
    // The next turn of session a waits when the response of b shows that its first stream was cut.
    [2000, []],
  ] as const)
    test(
      `a turn that only a later response shows to be cut ends its session, ${pauseMs} ms before the next`,
      LIMIT,
      async () => {
        const event = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
        const answer: Answer = (response, { asked }) =>
          response.writeHead(200, EVENTS).end(`${event}${asked === "a 1" ? "" : "data: [DONE]\n\n"}`);
        const turns = [{ session: "a", delayMs: pauseMs }, ...sessions("a", 3), ...sessions("b", 2)];
        const asked = { concurrency: pauseMs === 0 ? 1 : 2, isStreaming: true, tokens };
        const { result, received } = await run(turns, answer, asked);
        assert.deepEqual(askedOf(received, "a"), ["a 1", ...more]);
        assert.deepEqual(askedOf(received, "b"), ["b 1", "b 2"]);
        const [sentCount, unsentCount] = [3 + more.length, 3 - more.length];
        assert.deepEqual([result.sentCount, result.completedCount, result.failedCount], [sentCount, sentCount - 1, 1]);
        assert.deepEqual(result.sessions, { sessionCount: 2, cutCount: 1, unsentCount });
        assert.equal(result.error, undefined);
      },
    );

  test("requests that know no history are sent in order, as they are", LIMIT, async () => {
    const answer: Answer = (response) => response.end('{"object":"text_completion","choices":[{"text":"x"}]}');
    const { received } = await run(sessions("a", 3), answer, { concurrency: 1, endpoint: "v1/completions" });
    assert.deepEqual(
      received.map(({ asked, messages }) => [asked, messages.length]),
      [
        ["a 1", 1],
        ["a 2", 1],
        ["a 3", 1],
      ],
    );
  });

  test("an interrupted run ends within a delay, with its partial result", LIMIT, async () => {
    let interrupt = (): void => {};
    const answer: Answer = (response, request) => {
      answerChat(response, request);
      if (request.asked === "a 2") response.once("close", () => setImmediate(interrupt));
    };
    const { result, received } = await run([{ session: "a" }, ...sessions("a", 2, 60_000)], answer, {
      concurrency: 1,
      onRunning: (running) => {
        interrupt = () => running.interrupt();
      },
    });
    assert.equal(result.isInterrupted, true);
    assert.deepEqual(askedOf(received, "a"), ["a 1", "a 2"]);
    assert.equal(result.completedCount, 2);
  });

  test("fewer sessions than the concurrency are rejected", LIMIT, async () => {
    await assert.rejects(run(sessions("ab", 2), answerChat, { concurrency: 3 }), / 2 unique session IDs,.* level of 3/);
  });

  test("sessions have a number of requests of their own, no warm-up, and belong to payloads", () => {
    const load = { kind: "session-concurrency", concurrency: 1 } as const;
    const own = { kind: "requests", count: null } as const;
    assert.throws(() => checkPlan(makePlan({ load, measurement: { mode: own } })), /load\.concurrency.*payloads/s);
    assert.throws(() => checkPlan(makePlan({ load })), /measurement\.mode\.count/);
    assert.throws(() => checkPlan(makePlan({ load, measurement: { mode: own, warmupRequests: 1 } })), /warmupRequests/);
    const none = { ...load, concurrency: 0 };
    assert.throws(() => checkPlan(makePlan({ load: none, measurement: { mode: own } })), /load\.concurrency/);
  });
});

describe("turns on a clock", () => {
  function makeSessions(...turnCounts: number[]) {
    const clock = new FakeClock();
    const feed = makeSessionFeed(...turnCounts);
    return { clock, ...makeDriver({ clock, feed, judgeLater: feed.follow((call) => call.failure) }) };
  }
  const sentMs = ({ client }: DriverUnderTest): number[] => client.sent.map(({ atNs }) => atNs / 1e6);

  test("a turn is due its pause after the response before, however late that is judged", async () => {
    const made = makeSessions(3);
    const { driver, client, clock } = made;
    await starterOf(driver).start({ kind: "sessions", concurrency: 1 }, 3);
    await clock.advanceMs(100);
    client.answer(0);
    // The event loop stands still for 2 of the 5 ms.
    clock.spendMs(2);
    await clock.advanceMs(50);
    assert.deepEqual(sentMs(made), [0, 105]);
    client.answer(0);
    await clock.advanceMs(50);
    assert.deepEqual(sentMs(made).map(Math.round), [0, 105, 152], "without a pause the next turn follows at once");
    client.answer(0);
    await clock.advanceMs(1);
    await driver.finished();
    driver.close();
  });

  test("a turn that is sent late for its pause is marked, one without a pause is not", async () => {
    const { driver, client, clock, flags } = makeSessions(3);
    await starterOf(driver).start({ kind: "sessions", concurrency: 1 }, 3);
    client.answer(0);
    clock.spendMs(30);
    await clock.advanceMs(10);
    for (let turn = 0; turn < 2; turn++) {
      client.answer(0);
      await clock.advanceMs(10);
    }
    await driver.finished();
    driver.drain();
    assert.deepEqual(flags, [0, RECORD_DELAYED, 0]);
    driver.close();
  });

  test("other sessions continue during a pause", async () => {
    const { driver, client, clock } = makeSessions(2, 9);
    await starterOf(driver).start({ kind: "sessions", concurrency: 2 }, 11);
    client.answer(1);
    await clock.advanceMs(10);
    client.answer(0);
    for (let turn = 0; turn < 4; turn++) {
      client.answer(1);
      await clock.advanceMs(1);
    }
    assert.deepEqual(
      client.sent.map(({ slot }) => slot),
      [0, 1, 1, 1, 1, 1, 1],
    );
    await clock.advanceMs(1);
    assert.equal(client.sent.at(-1)?.slot, 0);
    driver.close();
  });

  test("a stop during a pause sends nothing more, and leaves no timer", async () => {
    const made = makeSessions(2);
    const { driver, client, clock } = made;
    await starterOf(driver).start({ kind: "sessions", concurrency: 1 }, 2);
    client.answer(0);
    await clock.advanceMs(3);
    await driver.stop();
    await clock.advanceMs(100);
    assert.deepEqual([sentMs(made), clock.timerCount], [[0], 0]);
    driver.close();
  });
});
