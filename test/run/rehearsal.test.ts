import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CHAT_ENDPOINTS } from "../../src/cli/chat/command.ts";
import { startMock } from "../../src/mock/server.ts";
import type { MockHandlers } from "../../src/mock/services/service.ts";
import { MOCK_SERVICES } from "../../src/mock/services/table.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { SERVICE_KINDS } from "../../src/registry/service-kinds.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { laneOptionsOf } from "../../src/run/lanes.ts";
import { createFeed } from "../../src/run/mix/create-feed.ts";
import { openTarget, type TargetSession } from "../../src/run/open/session.ts";
import { PROMPT_BOUNDS, rehearse, SERVER_BOUNDS, SHORT_BOUNDS } from "../../src/run/rehearsal.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { files } from "../../src/scenario/inputs.ts";
import { hold } from "../../src/scenario/loads/levels.ts";
import { payloads } from "../../src/scenario/prompts.ts";
import { defineTarget } from "../../src/scenario/targets/custom.ts";
import { grpc } from "../../src/scenario/targets/grpc.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import type { Target } from "../../src/scenario/targets/target.ts";
import { tfserving } from "../../src/scenario/targets/tfserving.ts";
import { torchserve } from "../../src/scenario/targets/torchserve.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { demoProto } from "../servers/dynamic.ts";

const PAYLOADS = fileURLToPath(new URL("./payloads.fixture.json", import.meta.url));
const LIMIT = { timeout: 180_000 };
const PLAN: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 };

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

const services = [counting];
for (const [name, service] of Object.entries(MOCK_SERVICES))
  services.push(await service.create(PLAN, name === "proto" ? demoProto : ""));
const mock = await startMock(PLAN, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 }, services);
after(() => mock.stop());

const overHttp = `127.0.0.1:${mock.httpPort}`;
const overGrpc = `127.0.0.1:${mock.grpcPort}`;
const fail = (): never => {
  throw new Error("the scenario's function was called");
};
const own = { name: "own", decode: fail, check: fail };
const model = "simple";

const TARGETS: Readonly<Record<string, Target>> = {
  "triton over HTTP": triton(overHttp, { protocol: "http", model }),
  "triton over gRPC": triton(overGrpc, { protocol: "grpc", model }),
  "triton over a stream": triton(overGrpc, { protocol: "grpc", model, streaming: true }),
  tfserving: tfserving(overGrpc, { model, shapes: { INPUT0: [1, 16], INPUT1: [1, 16] } }),
  torchserve: torchserve(overHttp, { model }),
  "plain-http": http(`http://${overHttp}/score`, { method: "POST", body: { x: 1 }, success: { where: "false" } }),
  "dynamic-grpc, unary": grpc(overGrpc, { method: "demo.v1.Text/Echo", message: { text: "x" } }),
  "dynamic-grpc, messages of the client": grpc(overGrpc, { method: "demo.v1.Text/Collect", messages: [{}, {}] }),
  "dynamic-grpc, messages of the server": grpc(overGrpc, { method: "demo.v1.Text/Repeat", message: {} }),
  "dynamic-grpc, in turn": grpc(overGrpc, {
    method: "demo.v1.Text/Talk",
    messages: [{}, {}, {}],
    pacing: "after-response",
  }),
  "user-defined over HTTP": defineTarget({ ...own, encode: () => ({ path: "/score", body: "x" }) })(overHttp, {
    inputs: [1],
  }),
  "user-defined over gRPC": defineTarget({
    ...{ ...own, protocol: "grpc" },
    encode: () => ({ method: "demo.v1.Text/Echo", message: new Uint8Array(2) }),
  })(overGrpc, { inputs: [1] }),
};
for (const endpoint of CHAT_ENDPOINTS)
  for (const streaming of [true, false])
    Object.assign(TARGETS, { [`openai, ${endpoint}, ${streaming}`]: openai(overHttp, { model, endpoint, streaming }) });
for (const endpoint of ["generate", "huggingfaceGenerate", "embeddings", "rankings", "imageRetrieval"] as const)
  Object.assign(TARGETS, { [`openai, ${endpoint}`]: openai(overHttp, { model, endpoint }) });

/** Calls back with what the run of a target rehearses. */
async function opened(
  target: Target,
  use: (parts: { plan: ReturnType<typeof toPlan>; session: TargetSession }) => Promise<void>,
): Promise<void> {
  const inputs =
    target.kind === "openai"
      ? { inputs: payloads(PAYLOADS) }
      : target.kind === "torchserve"
        ? { inputs: files([demoProto]) }
        : {};
  const plan = toPlan(defineScenario({ name: "x", target, load: hold(2, { requests: 4 }), ...inputs } as never), "/");
  const to = await openTarget(plan, { observer: {}, search: prepareLoad(plan.load).search, signal: new RunSignal() });
  try {
    await use({ plan, session: await to.setUp() });
  } finally {
    await to.close();
  }
}

describe("the rehearsal of every kind", () => {
  for (const [name, target] of Object.entries(TARGETS))
    for (const keepsRecords of [false, true])
      test(
        `${name}${keepsRecords ? ", with records" : ""}: every request succeeds, and none reaches the server`,
        LIMIT,
        () =>
          opened(target, async (parts) => {
            received.count = 0;
            const counters = await parts.session.counters();
            const observer = keepsRecords ? { onRecord: fail } : {};
            const bounds = { requestCount: 40, durationMs: 60_000, concurrency: 2 };
            const { completedCount, failedCount } = await rehearse(
              parts,
              prepareLoad(parts.plan.load).search,
              observer,
              bounds,
            );
            assert.deepEqual([completedCount, failedCount], [40, 0]);
            assert.equal(received.count, 0);
            assert.deepEqual(await parts.session.counters(), counters);
          }),
      );

  test("names every kind that has an address", () => {
    const kinds = Object.keys(SERVICE_KINDS).filter((kind) => kind !== "triton-c-api");
    for (const kind of kinds)
      assert.ok(
        Object.keys(TARGETS).some((name) => name.startsWith(kind)),
        kind,
      );
  });
});

test("a rehearsal ends after its time, and its requests are in no count of the run", LIMIT, () =>
  opened(TARGETS["triton over gRPC"] as Target, async (parts) => {
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
