import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { MOST_RESPONSE_BYTES } from "../../src/plan/defaults.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { NO_TELEMETRY } from "../../src/plan/telemetry.ts";
import { formatDurationNs, msToNs, sum } from "../../src/plan/units.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { type RunningPlan, startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { makeOpenAiTarget, makePlan, type PlanChange } from "../plan/make-plan.ts";
import { makePromptsPlan } from "../plan/make-prompts-plan.ts";
import { listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { KserveServer, withServer } from "./kserve-server.ts";

/** Runs end in bounded time whatever is outstanding at the server, and every request is counted. */

/** More than drips ever bring, and below every limit of a response. */
const DRIPPED_BYTES = 10_000_000;
/** A stall timeout that ends no run within {@link LIMIT}. */
const PATIENT = { stallTimeoutMs: 120_000 };
const NEVER = new Promise<undefined>(() => {});

function start(plan: Plan, observer: RunObserver = {}): RunningPlan {
  return startPlan(plan, { openObserver: async () => observer, check: async () => {} });
}

function planFor({ url }: KserveServer, change: PlanChange = {}): Plan {
  return makePlan({ ...change, target: { url, ...change.target } });
}

function checkCounts(result: RunResult): void {
  const { sentCount, completedCount, failedCount, cancelledCount, failures } = result;
  assert.equal(sentCount, completedCount + failedCount + cancelledCount);
  assert.equal(sum(failures.map(({ count }) => count)), failedCount + cancelledCount);
}

describe("a request that stalls", () => {
  for (const concurrency of [1, 4]) {
    test(`is one failure, at concurrency ${concurrency}`, LIMIT, async () => {
      await using server = await new KserveServer({
        onInfer: ({ index }) => (index === 7 ? NEVER : undefined),
      }).start();
      const load = {
        kind: "concurrency",
        levels: { kind: "list", values: [concurrency] },
        search: "linear",
      } as const;
      const result = await start(planFor(server, { load, client: { stallTimeoutMs: 1000 } })).result;
      checkCounts(result);
      assert.equal(result.error, undefined, result.error?.message);
      assert.deepEqual([result.completedCount, result.failedCount], [99, 1]);
      assert.deepEqual(
        result.failures.map(({ kind, count }) => [kind, count]),
        [["stalled", 1]],
      );
    });
  }

  test("and another, far apart, are two", LIMIT, async () => {
    await using server = await new KserveServer({
      onInfer: ({ index }) => (index % 50 === 7 ? NEVER : undefined),
    }).start();
    const result = await start(planFor(server, { client: { stallTimeoutMs: 1000 } })).result;
    assert.deepEqual([result.error, result.completedCount, result.failedCount], [undefined, 98, 2]);
  });
});

/** Loads of eight users, and which requests the server never answers. */
const STALLS: readonly (readonly [name: string, isSilent: (index: number) => boolean])[] = [
  ["the last eight requests", (index) => index >= 92],
  ["requests now and then, until every user waits for one", (index) => index % 12 === 5],
];

describe("a server that answers all but", () => {
  for (const [name, isSilent] of STALLS)
    test(`${name} has not stopped answering: the others are failed requests`, LIMIT, async () => {
      await using server = await new KserveServer({
        onInfer: ({ index }) => (isSilent(index) ? NEVER : undefined),
      }).start();
      const plan = planFor(server, {
        load: { kind: "concurrency", levels: { kind: "list", values: [8] }, search: "linear" },
        measurement: { mode: { kind: "requests", count: 100 } },
        client: { stallTimeoutMs: 1000 },
        failures: { maxRatio: 1 },
      });
      const result = await start(plan).result;
      checkCounts(result);
      assert.equal(result.error, undefined, result.error?.message);
      assert.deepEqual([result.sentCount, result.failedCount], [100, 8]);
      assert.equal(result.levels[0]?.outcome, "measured");
    });
});

test("a share of failures above the limit ends the run as soon as no success can lower it enough", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: ({ index }) => (index % 2 === 0 ? "no" : undefined) }).start();
  const result = await start(planFor(server, { failures: { maxRatio: 0.1 } })).result;
  checkCounts(result);
  assert.match(result.error?.message ?? "", /^11 of 21 requests failed, more than the 10 % allowed/);
  assert.equal(server.infers.length, 21 + 1);
});

test("a share of failures above the limit ends a run of a given time before that time", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => "no" }).start();
  const measurement = { mode: { kind: "duration", durationMs: 600_000 } } as const;
  const result = await start(planFor(server, { failures: { maxRatio: 0.5 }, measurement })).result;
  assert.equal(result.error?.code, "failed-request");
  assert.equal(result.failedCount >= 30, true);
});

/** What a language model's server does to a request: it never ends. */
type Fault = (response: ServerResponse) => void;

function repeat(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 5);
  response.once("close", () => clearInterval(timer));
}

/** Long enough for the two responses on a busy machine. */
const REQUEST_TIMEOUT_MS = 1500;
/** Large enough that neither the bytes nor the number of the events that fit into the timeout reach the limits of a response. */
const FLOODED_EVENT = `data: {"choices":[{"index":0,"delta":{"content":"${"a".repeat(250)}"}}]}\n\n`;

const ENDLESS: Readonly<Record<string, Fault>> = {
  "brings no byte": () => {},
  "brings its body byte by byte": (response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": DRIPPED_BYTES });
    repeat(response, " ");
  },
  "streams events without an end": (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    repeat(response, 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
  },
  "floods events without an end": (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const events = FLOODED_EVENT.repeat(100);
    const flood = (): void => {
      while (!response.destroyed && response.write(events));
    };
    response.on("drain", flood);
    flood();
  },
};

interface LlmServer {
  readonly plan: Plan;
  /** Resolves when this many requests have arrived. */
  arrived(count: number): Promise<void>;
}

/** A chat server that answers the first two requests and treats the others badly. */
async function withLlm(fault: Fault, client: Partial<Plan["client"]>, body: (server: LlmServer) => Promise<void>) {
  let count = 0;
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    request.resume().once("end", () => {
      count++;
      for (const one of waiting) if (count >= one.count) one.resolve();
      if (count > 2) fault(response);
      else {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.end('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n');
      }
    });
  });
  const url = `127.0.0.1:${await listen(server)}`;
  const base = makePlan({ client, measurement: { mode: { kind: "requests", count: 6 } } });
  const plan: Plan = {
    ...base,
    target: makeOpenAiTarget(url),
    inputs: makePromptsPlan(),
  };
  const arrived = (wanted: number): Promise<void> =>
    new Promise((resolve) => {
      if (count >= wanted) resolve();
      else waiting.push({ count: wanted, resolve });
    });
  try {
    await body({ plan, arrived });
  } finally {
    server.closeAllConnections?.();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("a request that never ends does not delay an interrupted run", LIMIT, async () => {
  // All at once: each run waits a while for what is in flight.
  const ending = Object.entries(ENDLESS).map(([name, fault]) =>
    withLlm(fault, PATIENT, async ({ plan, arrived }) => {
      const running = start(plan);
      await arrived(3);
      running.interrupt();
      const result = await running.result;
      checkCounts(result);
      assert.deepEqual([result.isInterrupted, result.error], [true, undefined], name);
      // A flood may reach the limit of bytes first.
      assert.deepEqual([result.completedCount, result.failedCount + result.cancelledCount], [2, 1], name);
      assert.equal(result.levels[0]?.window.requestCount, 2, name);
      assert.match(
        result.failures[0]?.example ?? "",
        /when the run was interrupted|longer than the .* bytes allowed/,
        name,
      );
    }),
  );
  await Promise.all(ending);
});

for (const [name, fault] of Object.entries(ENDLESS)) {
  test(`a request that ${name} fails at the request timeout`, LIMIT, async () => {
    const client = { requestTimeoutMs: REQUEST_TIMEOUT_MS, maxResponseBytes: MOST_RESPONSE_BYTES };
    // Those that fail do so at the same time.
    const load: Plan["load"] = { kind: "concurrency", levels: { kind: "list", values: [4] }, search: "linear" };
    await withLlm(fault, client, async ({ plan }) => {
      const result = await start({ ...plan, load }).result;
      checkCounts(result);
      assert.deepEqual([result.error, result.completedCount, result.failedCount], [undefined, 2, 4]);
      assert.deepEqual(
        result.failures.map(({ kind, example }) => [kind, example]),
        [["timeout", `no complete response within ${formatDurationNs(msToNs(REQUEST_TIMEOUT_MS))}`]],
      );
    });
  });
}

/** Answers some paths of a KServe server byte by byte, without an end. */
async function withDrips(
  server: KserveServer,
  isDripping: (path: string) => boolean,
  body: (url: string, dripped: Promise<void>) => Promise<void>,
) {
  const { promise: dripped, resolve } = Promise.withResolvers<void>();
  const answerOne = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    if (isDripping(path)) {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": DRIPPED_BYTES });
      repeat(response, " ");
      resolve();
      return;
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece as Uint8Array);
    const headers = Object.entries(request.headers).filter(([key]) => key.startsWith("inference"));
    const { method = "GET" } = request;
    const sent = method === "GET" ? undefined : Buffer.concat(pieces);
    const answer = await fetch(`http://${server.url}${path}`, {
      method,
      headers: headers as [string, string][],
      ...(sent === undefined ? {} : { body: sent }),
    });
    const answered = Buffer.from(await answer.arrayBuffer());
    const jsonBytes = answer.headers.get("inference-header-content-length");
    response.writeHead(answer.status, {
      "Content-Type": answer.headers.get("content-type") ?? "",
      "Content-Length": answered.length,
      ...(jsonBytes === null ? {} : { "Inference-Header-Content-Length": jsonBytes }),
    });
    response.end(answered);
  };
  // A run that has ended leaves requests behind, whose server ends before they do.
  const proxy = createServer((request, response) => {
    answerOne(request, response).catch(() => response.destroy());
  });
  try {
    await body(`127.0.0.1:${await listen(proxy)}`, dripped);
  } finally {
    proxy.closeAllConnections?.();
    await new Promise((closed) => proxy.close(closed));
  }
}

describe("a response outside of the load that has no end", () => {
  const modes = [
    ["the model's metadata", (path: string) => path === "/v2/models/simple"],
    ["the model's configuration", (path: string) => path.endsWith("/config")],
  ] as const;
  for (const [name, isDripping] of modes) {
    test(`does not delay an interrupt during the set-up (${name})`, LIMIT, async () => {
      await using server = await new KserveServer({}).start();
      await withDrips(server, isDripping, async (url, dripped) => {
        const running = start(planFor(server, { target: { url }, client: PATIENT }));
        running.result.catch(() => {});
        await dripped;
        running.interrupt();
        await assert.rejects(running.result, { code: "interrupted" });
      });
    });
  }

  test("ends a run that cannot begin", LIMIT, async () => {
    const ending = modes.map(async ([name, isDripping]) => {
      await using server = await new KserveServer({}).start();
      return await withDrips(server, isDripping, async (url) => {
        const plan = planFor(server, { target: { url }, client: { stallTimeoutMs: 1000 } });
        const message = /no complete response within 2 s/;
        await assert.rejects(start(plan).result, { code: "stalled", message }, name);
      });
    });
    await Promise.all(ending);
  });

  test("does not delay an interrupt during the run (statistics)", LIMIT, async () => {
    await withServer({}, (server) => {
      let isMeasuring = false;
      const isDripping = (path: string): boolean => isMeasuring && path.endsWith("/stats");
      return withDrips(server, isDripping, async (url, dripped) => {
        const running = start(planFor(server, { target: { url }, client: PATIENT }), {
          onLevelStart: () => {
            isMeasuring = true;
          },
        });
        await dripped;
        running.interrupt();
        const result = await running.result;
        assert.equal(result.isInterrupted, true);
        checkCounts(result);
      });
    });
  });

  test("is not read as a page of metrics after its timeout", LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    await withDrips(
      server,
      (path) => path === "/metrics",
      async (url) => {
        const telemetry = {
          ...NO_TELEMETRY,
          scrapes: { urls: [`http://${url}/metrics`], intervalMs: 100, isAsked: true },
        };
        const reasons: string[] = [];
        const result = await start(planFor(server, { telemetry }), {
          onWarning: (warning) => {
            if (warning.kind === "metrics-unreachable") reasons.push(warning.reason);
          },
        }).result;
        assert.equal(result.completedCount, 100);
        assert.deepEqual(reasons, ["no complete response within 2 s"]);
      },
    );
  });
});

describe("an ensemble that contains itself is refused", () => {
  const calling = (...names: string[]): object => ({
    ensemble_scheduling: { step: names.map((model_name) => ({ model_name, model_version: -1 })) },
  });
  const called = (name: string, ...names: string[]) => ({
    name,
    version: "1",
    timesPerRequest: 1,
    config: calling(...names),
  });
  const cases = [
    {
      name: "at once",
      config: calling("simple"),
      models: [],
      message: /'simple' contains itself: simple calls simple/,
    },
    {
      name: "through another",
      config: calling("a"),
      models: [called("a", "b"), called("b", "a")],
      message: /'a' contains itself: a calls b calls a/,
    },
  ];
  for (const { name, config, models, message } of cases) {
    test(name, LIMIT, async () => {
      await using server = await new KserveServer({ config, called: models }).start();
      await assert.rejects(start(planFor(server)).result, { code: "refused", message });
    });
  }

  test("but one model may be called twice", LIMIT, async () => {
    const options = { config: calling("a", "b"), called: [called("a", "b"), called("b")] };
    await using server = await new KserveServer(options).start();
    assert.equal((await start(planFor(server)).result).completedCount, 100);
  });
});

describe("every client keeps to the request timeout", () => {
  const clients = [
    ["own", "http", false],
    ["undici", "http", false],
    ["own", "grpc", false],
    ["own", "grpc", true],
    ["grpc-js", "grpc", false],
    ["grpc-js", "grpc", true],
  ] as const;
  const planOf = ([kind, protocol, isStreaming]: (typeof clients)[number]): Plan => {
    const target = embedded({ latency: "10 min" });
    const plan = toPlan(defineScenario({ name: "x", target, load: hold(2, { requests: 4 }) }), "/");
    return {
      ...plan,
      target: { ...plan.target, protocol, isStreaming } as Plan["target"],
      client: { ...plan.client, requestTimeoutMs: 100, kind },
    };
  };
  for (const each of clients) {
    const [client, protocol, isStreaming] = each;
    test(`${client} over ${protocol}${isStreaming ? ", streaming" : ""}`, LIMIT, async () => {
      const result = await start(planOf(each)).result;
      checkCounts(result);
      assert.deepEqual([result.error, result.completedCount, result.failedCount], [undefined, 0, 4]);
      assert.deepEqual(
        result.failures.map(({ kind }) => kind),
        ["timeout"],
      );
    });
  }
});
