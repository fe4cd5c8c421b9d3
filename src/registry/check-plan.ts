import * as v from "valibot";
import { LIMITED_NAMES, TOKEN_COUNTS, TOKEN_TIMES } from "../measure/tokens/metrics.ts";
import { behaviourSchema } from "../plan/behaviour.ts";
import { cancellationSchema } from "../plan/cancellation.ts";
import { clientSchema, measurementSchema, type Plan } from "../plan/plan.ts";
import { type Problem, UserError } from "../plan/problem.ts";
import { type Builders, builders, type Schema } from "../plan/schema.ts";
import { sequencesSchema } from "../plan/sequences.ts";
import type { TelemetryPlan } from "../plan/telemetry.ts";
import type { RequestForm } from "../service/service.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { checkOrder, INPUT_KINDS, inputKindOf } from "./input-kinds.ts";
import { LOAD_MODES, loadModeOf } from "./load-modes.ts";
import { TARGETS, targetKindOf } from "./service-kinds.ts";

/** Checks a plan from any front door. @throws UserError with all problems, by path in the plan */
export function checkPlan(plan: Plan): Plan {
  const problems = [
    ...checkVariant("target", TARGETS, plan.target),
    ...checkVariant("load", LOAD_MODES, plan.load),
    ...checkVariant("inputs", INPUT_KINDS, plan.inputs),
    ...toProblems("", v.safeParse(restSchema(), plan)),
  ];
  if (problems.length === 0) problems.push(...checkTogether(plan));
  if (problems.length > 0) throw new UserError(problems);
  return plan;
}

/** Returns the schema of a plan's parts besides target, load and inputs. */
function restSchema(): Schema<Omit<Plan, "target" | "load" | "inputs">> {
  const ratio = v.pipe(v.number(), v.minValue(0, "must be 0 or more"), v.maxValue(1, "must be 1 or less"));
  const percentile = v.pipe(v.number(), v.gtValue(0, "must be above 0"), v.ltValue(100, "must be below 100"));
  const of = v.picklist(["latency", "scheduledLatency"], "must be latency or scheduledLatency");
  const file = v.pipe(v.string(), v.nonEmpty("must name a file"));
  return v.object({
    version: v.literal(1),
    name: v.pipe(v.string(), v.nonEmpty("must not be empty")),
    sequences: sequencesSchema(builders),
    measurement: measurementSchema(builders),
    client: clientSchema(builders),
    failures: v.object({ maxRatio: v.nullable(ratio) }),
    cancellation: v.optional(cancellationSchema(builders)),
    telemetry: telemetrySchema(),
    assertions: v.array(
      v.object({
        metric: v.variant("kind", [
          v.object({ kind: v.literal("latency-percentile"), percentile, of }),
          v.object({ kind: v.literal("latency-average"), of }),
          v.object({ kind: v.literal("throughput") }),
          v.object({ kind: v.literal("error-ratio") }),
          ...tokenMetricSchemas(percentile),
        ]),
        comparison: v.picklist(["below", "at-most", "above", "at-least", "is"]),
        limit: v.pipe(v.number(), v.minValue(0, "must be 0 or more")),
      }),
    ),
    outputs: v.object({
      style: v.picklist(["perf_analyzer", "genai-perf", "rampart"]),
      verbosity: v.picklist([0, 1, 2]),
      files: v.record(v.string(), file),
      isVerboseCsv: v.boolean(),
      isLive: v.optional(v.boolean()),
    }),
    behaviour: v.exactOptional(behaviourSchema(builders)),
  });
}

function tokenMetricSchemas(percentile: Schema<number>) {
  const of = v.picklist([...TOKEN_TIMES, ...TOKEN_COUNTS], "must be a metric of tokens");
  const limit = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
  return [
    v.object({ kind: v.literal("token-percentile"), percentile, of }),
    v.object({ kind: v.literal("token-average"), of }),
    v.object({ kind: v.literal("output-tokens-per-sec") }),
    v.object({
      kind: v.literal("goodput"),
      limits: v.record(v.picklist(LIMITED_NAMES, "must be a metric that can be limited"), limit),
    }),
  ] as const;
}

function telemetrySchema(): Schema<TelemetryPlan> {
  const isMetricsUrl = (url: string): boolean => parseMetricsUrl(url) !== undefined;
  const whole = v.pipe(v.number(), v.integer("must be a whole number"));
  const natural = v.nullable(v.pipe(whole, v.minValue(0, "must be 0 or more")));
  const url = v.pipe(v.string(), v.check(isMetricsUrl, "must be a URL without a name and password"));
  const intervalMs = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
  const metrics = v.object({ url, intervalMs });
  const scrapes = v.object({ urls: v.array(url), intervalMs, isAsked: v.boolean() });
  const level = v.picklist(["OFF", "TIMESTAMPS", "TENSORS"], "must be OFF, TIMESTAMPS or TENSORS");
  const trace = v.object({
    file: v.nullable(v.string()),
    levels: v.nullable(v.pipe(v.array(level), v.minLength(1, "must not be empty"))),
    rate: natural,
    count: v.nullable(v.pipe(whole, v.minValue(-1, "must be -1 or more"))),
    logFrequency: natural,
  });
  return v.object({ metrics: v.nullable(metrics), trace: v.nullable(trace), scrapes: v.optional(scrapes) });
}

type Described = Readonly<Record<string, { schema(v: Builders): Schema<unknown> }>>;

function checkVariant(path: string, table: Described, part: { kind?: unknown } | undefined): Problem[] {
  const kind = String(part?.kind);
  const entry = Object.hasOwn(table, kind) ? table[kind] : undefined;
  if (entry !== undefined) return toProblems(path, v.safeParse(entry.schema(builders), part));
  return [
    {
      path: `${path}.kind`,
      message: "is not known",
      value: kind,
      hint: `Use one of ${Object.keys(table).join(", ")}.`,
    },
  ];
}

function toProblems(prefix: string, result: v.SafeParseResult<Schema<unknown>>): Problem[] {
  if (result.success) return [];
  return result.issues.map((issue): Problem => {
    const keys = (issue.path ?? []).map((item) => String((item as { key: unknown }).key));
    return {
      path: [prefix, ...keys].filter((key) => key !== "").join("."),
      message: issue.message,
      value: issue.received,
      hint: issue.expected === null ? "Change it." : `Expected ${issue.expected}.`,
    };
  });
}

/** Returns conflicts between parts of a plan. */
function checkTogether(plan: Plan): Problem[] {
  const problems: Problem[] = [];
  const { client, load, measurement, target, telemetry } = plan;
  const kind = targetKindOf(target);
  problems.push(...(kind.check?.(target, plan) ?? []));
  const takes = kind.takes(target);
  if (inputKindOf(plan.inputs).makes !== takes) {
    problems.push({
      path: "inputs.kind",
      message: "payloads are for servers that take payloads, which take nothing else",
      value: plan.inputs.kind,
      hint: `This target takes ${takes}: use one of ${inputsThatMake(takes).join(", ")}, or another target.`,
    });
  }
  if (measurement.tokens === undefined && plan.assertions.some(({ metric }) => isOfTokens(metric.kind))) {
    problems.push({
      path: "assertions",
      message: "there are assertions of tokens, and no tokens are measured",
      hint: "Leave them out, or measure a target whose answers are text.",
    });
  }
  if (client.kind === "undici" && measurement.tokens?.isStreamed === true) {
    problems.push({
      path: "client.kind",
      message: "undici does not tell when each event of a stream came",
      value: "undici",
      hint: "Use own.",
    });
  }
  if (client.kind === "undici" && target.protocol !== "http") {
    problems.push({
      path: "client.kind",
      message: "undici speaks HTTP only",
      value: "undici",
      hint: "Use own or grpc-js for gRPC.",
    });
  }
  if (client.kind === "grpc-js" && target.protocol !== "grpc") {
    problems.push({
      path: "client.kind",
      message: "grpc-js speaks gRPC only",
      value: "grpc-js",
      hint: "Use own or undici for HTTP.",
    });
  }
  if (target.isStreaming && client.callMode === "sync") {
    problems.push({ path: "client.callMode", message: "streams are asynchronous", value: "sync", hint: "Use async." });
  }
  const mode = loadModeOf(load);
  const asked = mode.levels?.(load);
  if (asked?.search === "binary" && measurement.latencyLimitMs === null) {
    problems.push({
      path: "measurement.latencyLimitMs",
      message: "a binary search needs a latency limit",
      hint: "Give one.",
    });
  }
  const hasOwnCount = measurement.mode.kind === "requests" && measurement.mode.count === null;
  if (hasOwnCount !== (mode.requestCount?.(load) === null)) {
    problems.push({
      path: "measurement.mode.count",
      message: "fixed schedules and sessions have a number of requests of their own, and no other load has",
      hint: "Give null with those, and a number otherwise.",
    });
  }
  problems.push(...checkOrder(plan));
  if (mode.requestCount !== undefined) {
    for (const name of ["warmupRequests", "warmupMs"] as const) {
      const value = measurement[name] ?? 0;
      if (value === 0) continue;
      problems.push({
        path: `measurement.${name}`,
        message: "this load already fixes the number of requests, so warm-up requests cannot be added",
        value: String(value),
        hint: "Leave the warm-up out.",
      });
    }
  }
  if (telemetry.trace !== null && kind.urls(target).length > 1)
    problems.push({
      path: "target.moreUrls",
      message: "trace settings are set in one server",
      hint: "Measure one server.",
    });
  if (asked?.levels.kind === "range" && asked.levels.end === null && measurement.latencyLimitMs === null) {
    problems.push({
      path: "load.levels.end",
      message: "a range without an end needs a latency limit",
      hint: "Give an end or a latency limit.",
    });
  }
  return problems;
}

function inputsThatMake(form: RequestForm): string[] {
  return Object.entries(INPUT_KINDS).flatMap(([name, { makes }]) => (makes === form ? [name] : []));
}

function isOfTokens(kind: Plan["assertions"][number]["metric"]["kind"]): boolean {
  return kind.startsWith("token-") || kind === "output-tokens-per-sec" || kind === "goodput";
}
