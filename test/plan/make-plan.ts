import type { RequestRateLoadPlan } from "../../src/load/request-rate.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../src/plan/sequences.ts";
import { NO_TELEMETRY } from "../../src/plan/telemetry.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import type { OpenAiTargetPlan } from "../../src/service/openai/target.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../../src/service/triton/target.ts";

/** Plans for tests. */

/** A plan's changes; targets are Triton's. */
export type PlanChange = Partial<Omit<Plan, "target" | "measurement" | "client" | "outputs">> & {
  readonly target?: Partial<TritonTargetPlan>;
  readonly measurement?: Partial<Plan["measurement"]>;
  readonly client?: Partial<Plan["client"]>;
  readonly outputs?: Partial<Plan["outputs"]>;
};

/** A model `simple` of a Triton server. */
export function makeTarget(change: Partial<TritonTargetPlan> = {}): TritonTargetPlan {
  return { ...DEFAULT_TRITON_TARGET, url: "127.0.0.1:8000", protocol: "http", model: "simple", ...change };
}

/** A sound plan: 100 requests at concurrency 1, reported in Rampart's own way; failures are only counted. */
export function makePlan(change: PlanChange = {}): Plan {
  const { target, measurement, client, outputs, ...rest } = change;
  return {
    version: 1,
    name: "a test",
    load: { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" },
    sequences: DEFAULT_SEQUENCES,
    inputs: { kind: "random", stringLength: 128, stringData: "" },
    failures: { maxRatio: null },
    telemetry: NO_TELEMETRY,
    assertions: [],
    ...rest,
    target: makeTarget(target),
    measurement: {
      mode: { kind: "requests", count: 100 },
      warmupRequests: 0,
      percentile: null,
      latencyLimitMs: null,
      ...measurement,
    },
    client: { kind: "own", callMode: "auto", maxLanes: null, stallTimeoutMs: 10_000, isMpi: false, ...client },
    outputs: {
      style: "rampart",
      verbosity: 0,
      files: {},
      isVerboseCsv: false,
      ...outputs,
    },
  };
}

/** A model `m` that streams chat completions. */
export function makeOpenAiTarget(url: string, change: Partial<OpenAiTargetPlan> = {}): OpenAiTargetPlan {
  return {
    kind: "openai",
    url,
    protocol: "http",
    endpoint: "v1/chat/completions",
    model: "m",
    batchSize: 1,
    isStreaming: true,
    headers: [],
    tls: DEFAULT_TLS,
    ...change,
  };
}

/** A load of these rates. */
export function rateLoad(
  values: readonly number[],
  distribution: RequestRateLoadPlan["distribution"] = "constant",
  seed = 1,
): RequestRateLoadPlan {
  return { kind: "request-rate", levels: { kind: "list", values }, search: "linear", distribution, seed };
}
