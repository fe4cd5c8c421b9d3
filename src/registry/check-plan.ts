import * as v from "valibot";
import { LIMITED_NAMES } from "../measure/tokens/metrics.ts";
import { behaviourSchema } from "../plan/behaviour.ts";
import { cancellationSchema } from "../plan/cancellation.ts";
import { functionSchema } from "../plan/functions.ts";
import { clientSchema, measurementSchema, type Plan } from "../plan/plan.ts";
import { movePath, type Problem, problem, UserError } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import { sequencesSchema } from "../plan/sequences.ts";
import { memberPlanOf } from "../plan/split/mix.ts";
import { tagsSchema } from "../plan/split/tags.ts";
import { telemetrySchema } from "../plan/telemetry.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { findConflicts } from "./conflicts.ts";
import { INPUT_KINDS } from "./input-kinds.ts";
import { LOAD_MODES } from "./load-modes.ts";
import { metricSchema } from "./metric-schema.ts";
import { membersOf } from "./mix.ts";
import { TARGETS } from "./service-kinds.ts";

/** Checks a plan from any front door: its values, and whether its parts fit together. @throws UserError with all problems, by path in the plan */
export function checkPlan(plan: Plan): Plan {
  const problems = [
    ...checkVariant("target", TARGETS, plan.target),
    ...checkVariant("load", LOAD_MODES, plan.load),
    ...checkVariant("inputs", INPUT_KINDS, plan.inputs),
    ...toProblems("", v.safeParse(restSchema(), plan)),
  ];
  if (problems.length === 0) problems.push(...checkMembers(plan));
  if (problems.length === 0) problems.push(...findConflicts(plan));
  if (problems.length > 0) throw new UserError(problems);
  return plan;
}

/** Checks the members of a mix like targets that are measured alone. */
function checkMembers({ target: mix, ...plan }: Plan): Problem[] {
  return membersOf(mix).flatMap((member, index) => {
    const path = `target.${index}`;
    const problems = [
      ...checkVariant(`${path}.target`, TARGETS, member.target),
      ...checkVariant(`${path}.inputs`, INPUT_KINDS, member.inputs),
    ];
    if (problems.length > 0) return problems;
    const alone = findConflicts(memberPlanOf({ ...plan, target: member.target }, member));
    return alone.map((found) =>
      movePath(found, (place) => (/^(target|inputs)\b/.test(place) ? `${path}.${place}` : place)),
    );
  });
}

/** Returns the schema of a plan's parts besides target, load and inputs. */
function restSchema(): Schema<Omit<Plan, "target" | "load" | "inputs">> {
  const ratio = v.pipe(v.number(), v.minValue(0, "must be 0 or more"), v.maxValue(1, "must be 1 or less"));
  const file = v.pipe(v.string(), v.nonEmpty("must name a file"));
  const runs = v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(2, "must be 2 or more"));
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
    seed: v.optional(v.pipe(v.number(), v.integer("must be a whole number"))),
    sequences: sequencesSchema(),
    measurement: measurementSchema(),
    client: clientSchema(),
    failures: v.object({ maxRatio: v.nullable(ratio) }),
    tags: v.exactOptional(tagsSchema()),
    cancellation: v.optional(cancellationSchema()),
    telemetry: telemetrySchema((url) => parseMetricsUrl(url) !== undefined),
    assertions: assertionsSchema(),
    limits: v.exactOptional(assertionsSchema()),
    check: v.exactOptional(functionSchema()),
    onRecord: v.exactOptional(functionSchema()),
    repeat: v.exactOptional(
      v.object({
        atLeast: runs,
        atMost: runs,
        until: v.exactOptional(
          v.object({
            metric: metricSchema(limitsSchema()),
            ratio: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
            where: v.exactOptional(v.record(v.string(), v.string())),
          }),
        ),
      }),
    ),
    outputs: v.object({
      style: v.picklist(["perf_analyzer", "genai-perf", "rampart"]),
      verbosity: v.picklist([0, 1, 2]),
      files: v.record(v.string(), file),
      isVerboseCsv: v.boolean(),
      isLive: v.optional(v.boolean()),
      showsLines: v.exactOptional(v.literal(true)),
      watchPort: v.optional(
        v.pipe(
          v.number(),
          v.integer("must be a whole number"),
          v.minValue(0, "must be 0 or more"),
          v.maxValue(65_535, "must be 65535 or less"),
        ),
      ),
      otlpUrl: v.optional(v.pipe(v.string(), v.url("must be a URL"))),
    }),
    behaviour: v.exactOptional(behaviourSchema()),
  });
}

function assertionsSchema() {
  return v.array(
    v.object({
      metric: metricSchema(limitsSchema()),
      comparison: v.picklist(["below", "at-most", "above", "at-least", "is"]),
      limit: v.number(),
      abortAfterMs: v.exactOptional(v.pipe(v.number(), v.gtValue(0, "must be above 0"))),
      where: v.exactOptional(v.record(v.string(), v.string())),
    }),
  );
}

/** Limits of a goodput: nanoseconds, or a rate. */
function limitsSchema() {
  const limit = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
  return v.record(v.picklist(LIMITED_NAMES, "must be a metric that can be limited"), limit);
}

type Described = Readonly<Record<string, { schema(): Schema<unknown> }>>;

function checkVariant(path: string, table: Described, part: { kind?: unknown } | undefined): Problem[] {
  const kind = String(part?.kind);
  const entry = Object.hasOwn(table, kind) ? table[kind] : undefined;
  if (entry !== undefined) return toProblems(path, v.safeParse(entry.schema(), part));
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
