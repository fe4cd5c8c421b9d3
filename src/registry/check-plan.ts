import * as v from "valibot";
import { canJoin, LIMIT_NAMES } from "../measure/good-requests.ts";
import { memberPlanOf } from "../plan/groups/mix.ts";
import { type BusPlan, busSchema, type Plan, planRestSchema } from "../plan/plan.ts";
import { movePath, type Problem, problem, UserError } from "../plan/problem.ts";
import { aboveZeroSchema, type Schema } from "../plan/schema.ts";
import { parseMetricsUrl } from "../telemetry/metrics-url.ts";
import { findConflicts } from "./conflicts.ts";
import { INPUT_KINDS } from "./input-kinds.ts";
import { LOAD_MODES } from "./load-modes.ts";
import { metricSchema } from "./metric-schema.ts";
import { membersOf } from "./mix.ts";
import { TARGETS } from "./service-kinds.ts";

/**
 * Checks a plan from any front door: its values, and that its parts fit together.
 * @param isLoadValid whether the front door has already validated the values of the load, as scenarios do. Default: false
 * @throws UserError with all problems, by path in the plan
 */
export function checkPlan(plan: Plan, isLoadValid = false): void {
  const rest = planRestSchema(metricSchema(limitsSchema()), (url) => parseMetricsUrl(url) !== undefined);
  const problems = [
    ...checkVariant("target", TARGETS, plan.target),
    ...(isLoadValid ? [] : checkVariant("load", LOAD_MODES, plan.load)),
    ...checkVariant("inputs", INPUT_KINDS, plan.inputs),
    ...toProblems("", v.safeParse(rest, plan)),
  ];
  if (problems.length === 0) problems.push(...checkMembers(plan));
  if (problems.length === 0) problems.push(...findConflicts(plan));
  if (problems.length > 0) throw new UserError(problems);
}

/** Checks the settings of a bus for a process without a plan. @throws UserError with all problems */
export function checkBus(bus: unknown): BusPlan {
  const result = v.safeParse(busSchema(), bus);
  const problems = toProblems("client.bus", result);
  if (problems.length > 0) throw new UserError(problems);
  return result.output as BusPlan;
}

/** Checks each member of a mix like a target that is measured alone. */
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

/** Returns the schema of a goodput's limits: nanoseconds, or a rate. */
function limitsSchema() {
  const limit = aboveZeroSchema();
  return v.pipe(
    v.record(v.picklist(LIMIT_NAMES, "must be a metric that can be limited"), limit),
    v.check(
      (limits) => canJoin(limits),
      "scheduledLatency and firstResponse cannot be limited together with metrics of tokens",
    ),
  );
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
