import * as v from "valibot";
import { LIMITED_NAMES, TOKEN_COUNTS, TOKEN_TIMES } from "../measure/tokens/metrics.ts";
import { behaviourSchema } from "../plan/behaviour.ts";
import { cancellationSchema } from "../plan/cancellation.ts";
import { clientSchema, measurementSchema, type Plan } from "../plan/plan.ts";
import { type Problem, problem, UserError } from "../plan/problem.ts";
import { type Builders, builders, type Schema } from "../plan/schema.ts";
import { sequencesSchema } from "../plan/sequences.ts";
import { setting } from "../plan/setting-names.ts";
import { telemetrySchema } from "../plan/telemetry.ts";
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
  const runs = v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(2, "must be 2 or more"));
  const metric = v.variant("kind", [
    v.object({ kind: v.literal("latency-percentile"), percentile, of }),
    v.object({ kind: v.literal("latency-average"), of }),
    v.object({ kind: v.literal("throughput") }),
    v.object({ kind: v.literal("error-ratio") }),
    ...tokenMetricSchemas(percentile),
    v.object({
      kind: v.literal("extracted"),
      name: v.string(),
      statistic: v.picklist(["average", "min", "max", "percentile"]),
      percentile: v.exactOptional(percentile),
    }),
  ]);
  return v.object({
    version: v.literal(1),
    name: v.pipe(v.string(), v.nonEmpty("must not be empty")),
    parameters: v.optional(
      v.record(
        v.string(),
        v.object({
          value: v.union([v.string(), v.number(), v.boolean()]),
          from: v.picklist(["command line", "environment", "default"]),
        }),
      ),
    ),
    sequences: sequencesSchema(builders),
    measurement: measurementSchema(builders),
    client: clientSchema(builders),
    failures: v.object({ maxRatio: v.nullable(ratio) }),
    cancellation: v.optional(cancellationSchema(builders)),
    telemetry: telemetrySchema(builders, (url) => parseMetricsUrl(url) !== undefined),
    assertions: v.array(
      v.object({
        metric,
        comparison: v.picklist(["below", "at-most", "above", "at-least", "is"]),
        limit: v.number(),
      }),
    ),
    repeat: v.exactOptional(
      v.object({
        atLeast: runs,
        atMost: runs,
        until: v.exactOptional(v.object({ metric, ratio: v.pipe(v.number(), v.gtValue(0, "must be above 0")) })),
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

type Described = Readonly<Record<string, { schema(v: Builders): Schema<unknown> }>>;

function checkVariant(path: string, table: Described, part: { kind?: unknown } | undefined): Problem[] {
  const kind = String(part?.kind);
  const entry = Object.hasOwn(table, kind) ? table[kind] : undefined;
  if (entry !== undefined) return toProblems(path, v.safeParse(entry.schema(builders), part));
  return [
    problem("unknown-name", `${path}.kind`, "is not known", `Use one of ${Object.keys(table).join(", ")}.`, kind),
  ];
}

function toProblems(prefix: string, result: v.SafeParseResult<Schema<unknown>>): Problem[] {
  if (result.success) return [];
  return result.issues.map((issue): Problem => {
    const keys = (issue.path ?? []).map((item) => String((item as { key: unknown }).key));
    return {
      code: "invalid-value",
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
    const message = "do not fit the target";
    const hint = `This target takes ${takes}: use one of ${inputsThatMake(takes).join(", ")}, or another target.`;
    problems.push(problem("conflict", "inputs.kind", message, hint, plan.inputs.kind));
  }
  if (measurement.tokens === undefined && plan.assertions.some(({ metric }) => isOfTokens(metric.kind))) {
    const message = "assertions on tokens need a target whose tokens are measured";
    const hint = "Leave them out, or measure a target whose answers are text.";
    problems.push(problem("conflict", "assertions", message, hint));
  }
  problems.push(...checkExtracted(plan));
  if (client.kind === "undici" && measurement.tokens?.isStreamed === true) {
    const message = "undici does not report when each event of a stream arrived";
    problems.push(problem("unsupported", setting("client.kind"), message, "Use own.", "undici"));
  }
  if (client.kind === "undici" && target.protocol !== "http") {
    problems.push(
      problem("conflict", setting("client.kind"), "undici speaks HTTP only", "Use own or grpc-js for gRPC.", "undici"),
    );
  }
  if (client.kind === "grpc-js" && target.protocol !== "grpc") {
    problems.push(
      problem("conflict", setting("client.kind"), "grpc-js speaks gRPC only", "Use own or undici for HTTP.", "grpc-js"),
    );
  }
  if (target.isStreaming && client.callMode === "sync") {
    problems.push(problem("conflict", "client.callMode", "streams are asynchronous", "Use async.", "sync"));
  }
  const mode = loadModeOf(load);
  const asked = mode.levels?.(load);
  if (asked?.search === "binary" && measurement.latencyLimitMs === null) {
    problems.push(
      problem("missing", "measurement.latencyLimitMs", "a binary search needs a latency limit", "Give one."),
    );
  }
  const hasOwnCount = measurement.mode.kind === "requests" && measurement.mode.count === null;
  if (hasOwnCount !== (mode.requestCount?.(load) === null)) {
    const message = "must be null for fixed schedules and sessions, and a number for all other loads";
    const hint = "Correct it.";
    problems.push(problem("conflict", "measurement.mode.count", message, hint));
  }
  problems.push(...checkOrder(plan));
  if (mode.requestCount !== undefined) {
    for (const name of ["warmupRequests", "warmupMs"] as const) {
      const value = measurement[name] ?? 0;
      if (value === 0) continue;
      const message = "this load already fixes the number of requests, so warm-up requests cannot be added";
      problems.push(problem("conflict", `measurement.${name}`, message, "Leave the warm-up out.", String(value)));
    }
  }
  if (telemetry.trace !== null && kind.urls(target).length > 1)
    problems.push(
      problem("conflict", "target.moreUrls", "trace settings can be set on one server only", "Measure one server."),
    );
  if (asked?.levels.kind === "range" && asked.levels.end === null && measurement.latencyLimitMs === null) {
    const message = "a range without an end needs a latency limit";
    problems.push(problem("missing", "load.levels.end", message, "Give an end or a latency limit."));
  }
  return problems;
}

/** Returns assertions on values that the target does not extract, and limits that no metric can have. */
function checkExtracted({ assertions, target }: Plan): Problem[] {
  const names = Object.keys(("extract" in target ? target.extract : undefined) ?? {});
  return assertions.flatMap(({ metric, limit }, index): Problem[] => {
    const path = `assert.${index}`;
    if (metric.kind !== "extracted")
      return limit < 0 ? [problem("invalid-value", path, "must be 0 or more", "Correct it.", String(limit))] : [];
    if (names.includes(metric.name)) return [];
    const hint = names.length === 0 ? "Name it in extract, in the target's options." : `Use ${names.join(" or ")}.`;
    return [problem("unknown-name", path, "the target extracts no value of this name", hint, metric.name)];
  });
}

function inputsThatMake(form: RequestForm): string[] {
  return Object.entries(INPUT_KINDS).flatMap(([name, { makes }]) => (makes === form ? [name] : []));
}

function isOfTokens(kind: Plan["assertions"][number]["metric"]["kind"]): boolean {
  return kind.startsWith("token-") || kind === "output-tokens-per-sec" || kind === "goodput";
}
