import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CHAT_ENDPOINTS } from "../../src/cli/chat/command.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import type { MockHandlers } from "../../src/mock/services/service.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { SERVICE_KINDS } from "../../src/registry/service-kinds.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { laneOptionsOf } from "../../src/run/lanes.ts";
import { createFeed } from "../../src/run/mix/create-feed.ts";
import { openTarget } from "../../src/run/open/open-target.ts";
import type { TargetSession } from "../../src/run/open/session.ts";
import { PROMPT_BOUNDS, rehearse, SERVER_BOUNDS, SHORT_BOUNDS } from "../../src/run/rehearsal.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { payloads } from "../../src/scenario/prompts.ts";
import { grpc } from "../../src/scenario/targets/grpc.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import type { Target } from "../../src/scenario/targets/target.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { loadRows } from "../conformance/load-rows.ts";
import { makePlan } from "../plan/make-plan.ts";
import { createMockServices } from "../servers/mock-services.ts";
import { LIMIT } from "../time-limit.ts";

const PAYLOADS = fileURLToPath(new URL("./payloads.fixture.json", import.meta.url));

/** What the mock is asked on paths and methods of inference. */
const received = { count: 0 };
const counting: MockHandlers = {
  describe: () => "",
  answerHttp: ({ path }) => {
    if (path.startsWith("/predictions/") || path === "/score" || path.endsWith("/infer") || path.startsWith("/v1/"))
      received.count++;
    return false;
  },
};

const services = [counting, ...(await createMockServices(DEFAULT_MOCK))];
const mock = await startMock(DEFAULT_MOCK, LOOPBACK, services);
after(() => mock.stop());

const overHttp = `127.0.0.1:${mock.httpPort}`;
const overGrpc = `127.0.0.1:${mock.grpcPort}`;
const fail = (): never => {
  throw new Error("the scenario's function was called");
};
const model = "simple";

/** Forms of requests that have no row in the table of kinds. */
const TARGETS: Readonly<Record<string, Target>> = {
  "plain-http, without success": http(`http://${overHttp}/score`, {
    ...{ method: "POST", body: { x: 1 }, success: { where: "false" } },
  }),
  "dynamic-grpc, unary": grpc(overGrpc, { method: "demo.v1.Text/Echo", message: { text: "x" } }),
  "dynamic-grpc, messages of the client": grpc(overGrpc, { method: "demo.v1.Text/Collect", messages: [{}, {}] }),
  "dynamic-grpc, messages of the server": grpc(overGrpc, { method: "demo.v1.Text/Repeat", message: {} }),
  "dynamic-grpc, in turn": grpc(overGrpc, {
    method: "demo.v1.Text/Talk",
    messages: [{}, {}, {}],
    pacing: "after-response",
  }),
};
for (const endpoint of CHAT_ENDPOINTS)
  for (const streaming of [true, false])
    Object.assign(TARGETS, { [`openai, ${endpoint}, ${streaming}`]: openai(overHttp, { model, endpoint, streaming }) });
for (const endpoint of ["generate", "huggingfaceGenerate", "embeddings", "rankings", "imageRetrieval"] as const)
  Object.assign(TARGETS, { [`openai, ${endpoint}`]: openai(overHttp, { model, endpoint }) });

/** What a run rehearses. */
interface Opened {
  readonly plan: Plan;
  readonly session: TargetSession;
}

function planOf(target: Target): Plan {
  const inputs = target.kind === "openai" ? { inputs: payloads(PAYLOADS) } : {};
  return toPlan(defineScenario({ name: "x", target, load: hold(2, { requests: 4 }), ...inputs } as never), "/");
}

/** The rows of the table of kinds whose requests pass a network. */
const SERVED = (await loadRows()).flatMap(({ start, ...row }) => {
  const { kind } = row.target({ url: "", moreUrls: [], tls: DEFAULT_TLS, fault: undefined });
  const isServed = kind in SERVICE_KINDS && SERVICE_KINDS[kind as keyof typeof SERVICE_KINDS].isInProcess !== true;
  return start === undefined || !isServed ? [] : [{ ...row, start }];
});

/** Calls back with what the run of a plan rehearses. */
async function opened(plan: Plan, use: (parts: Opened) => Promise<void>): Promise<void> {
  const to = await openTarget(plan, { observer: {}, search: prepareLoad(plan.load).search, signal: new RunSignal() });
  try {
    await use({ plan, session: await to.setUp() });
  } finally {
    await to.close();
  }
}

/** Rehearses a plan: every request succeeds, and `received` counts none. */
async function checkRehearsal({ plan, session }: Opened, keepsRecords: boolean, received: () => number): Promise<void> {
  const before = received();
  const counters = await session.counters();
  const observer = keepsRecords ? { onRecord: fail } : {};
  const bounds = { requestCount: 40, durationMs: 60_000, concurrency: 2 };
  const { search } = prepareLoad(plan.load);
  const { completedCount, failedCount } = await rehearse({ plan, session }, search, observer, bounds);
  assert.deepEqual([completedCount, failedCount], [40, 0]);
  assert.equal(received(), before);
  assert.deepEqual(await session.counters(), counters);
}

describe("every request of a rehearsal succeeds, and none reaches the server:", () => {
  for (const keepsRecords of [false, true]) {
    const how = keepsRecords ? ", with records" : "";
    for (const [name, target] of Object.entries(TARGETS))
      test(`${name}${how}`, LIMIT, () =>
        opened(planOf(target), (parts) => checkRehearsal(parts, keepsRecords, () => received.count)),
      );
    for (const { name, start, target, inputs } of SERVED)
      test(`${name}${how}`, LIMIT, async () => {
        const server = await start({ fault: () => undefined, isSequence: false });
        const made = makePlan({ measurement: { mode: { kind: "requests", count: 4 } } });
        const aim = { url: server.address, moreUrls: [], tls: DEFAULT_TLS, fault: undefined };
        const plan = { ...made, target: target(aim), ...(inputs === undefined ? {} : { inputs }) };
        try {
          await opened(plan, (parts) => checkRehearsal(parts, keepsRecords, () => server.traffic.received));
        } finally {
          await server.stop();
        }
      });
  }
});

test("a rehearsal ends after its time, and its requests are in no count of the run", LIMIT, () =>
  opened(planOf(triton(overGrpc, { protocol: "grpc", model })), async (parts) => {
    const { plan, session } = parts;
    const { search } = prepareLoad(plan.load);
    const feed = await createFeed(session, { plan, search, lanes: laneOptionsOf(plan, search, session.service) });
    const endless = { requestCount: Number.POSITIVE_INFINITY, durationMs: 20, concurrency: 2 };
    const { completedCount } = await rehearse({ ...parts, feed }, search, {}, endless);
    assert.ok(completedCount > 0);
    // The encoding of the first request is the rehearsal's, which is the same.
    let encodedCount = 0;
    const { codec } = session.service;
    const encode = codec.encode.bind(codec);
    Object.assign(codec, {
      encode: (...content: Parameters<typeof encode>) => {
        encodedCount++;
        return encode(...content);
      },
    });
    assert.equal(feed.next(0, 0).path, "/inference.GRPCInferenceService/ModelInfer");
    assert.deepEqual([encodedCount, feed.step], [0, 0]);
  }),
);

test("a rehearsal is bounded, and in perf_analyzer mode short enough for a start within 60 ms", () => {
  assert.ok(SHORT_BOUNDS.durationMs <= 5);
  assert.ok(SERVER_BOUNDS.durationMs <= 50);
  assert.ok(PROMPT_BOUNDS.durationMs <= 200);
});
