import * as v from "valibot";
import { LEVEL_UNITS } from "../load/level-units.ts";
import { needsOf } from "../measure/metrics/catalogue.ts";
import { DEFAULT_STALL_TIMEOUT_MS, DEFAULT_WINDOWS } from "../plan/defaults.ts";
import { numberFunctions, toFunctionPlan } from "../plan/functions.ts";
import type { Text } from "../plan/messages.ts";
import { defined } from "../plan/objects.ts";
import type { MeasurementModePlan, ParametersPlan, Plan } from "../plan/plan.ts";
import { movePath, type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { registerHeaders, registerUrl } from "../plan/secrets.ts";
import { DEFAULT_METRICS_INTERVAL_MS, type MetricsPlan, NO_TRACE } from "../plan/telemetry.ts";
import { checkPlan } from "../registry/check-plan.ts";
import { checkClientProtocols, checkWarmUp } from "../registry/conflicts.ts";
import { describeCustomMetrics } from "../registry/custom-metrics.ts";
import { hasMeasuredSchedule, levelUnitOf } from "../registry/load-modes.ts";
import { registerPlan } from "../registry/service-kinds.ts";
import { defaultMetricsUrl } from "../telemetry/metrics-url.ts";
import { toAssertionPlan } from "./assertion-schema.ts";
import { toCancellationPlan } from "./cancel.ts";
import type { Scenario } from "./define.ts";
import { type AbSide, isAb, sideOf } from "./definition/ab.ts";
import { toCapacityPlan } from "./definition/capacity.ts";
import { type DefinitionData, definitionSchema } from "./definition/definition-schema.ts";
import { toDerivedPlans } from "./definition/derive.ts";
import { hasLoadsByTarget, partOf } from "./definition/per-target.ts";
import { toProblems } from "./definition/to-problem.ts";
import { toMs, toPct, toRatio } from "./fields.ts";
import { callOf } from "./form.ts";
import { describeInputs } from "./inputs.ts";
import { type ConvertedLoad, convertLoads, loadCallOf } from "./loads/table.ts";
import { copyPlainData } from "./plain-data.ts";
import { checkRepeat, toRepeatPlan, untilOf } from "./repeat.ts";
import { checkRequests, partsOf, toRequestsPlan } from "./requests-plan.ts";
import { toSequencesPlan } from "./sequences.ts";
import { toTagsPlan } from "./tags.ts";
import { targetBuilderOf } from "./targets/table.ts";

/** Parts of a scenario that the command line can change. */
export interface PlanOverrides {
  /** Servers that replace the target's servers; empty: the target's. */
  readonly urls?: readonly string[];
  readonly client?: Plan["client"]["kind"] | undefined;
  /** Shows a single level as lines. Default: as a table. */
  readonly showsLines?: true;
  /** The values of the scenario's parameters, for reports. */
  readonly parameters?: ParametersPlan | undefined;
  /** Target of `ab(…)`. Default: the first one. */
  readonly side?: AbSide;
  /** Index of the target of a mix whose targets have separate loads. Default: the first one. */
  readonly part?: number;
}

/**
 * Builds the plan of a scenario, and checks it.
 * @param folder base of relative paths @param change changes from the command line. Default: none
 * @throws UserError with all problems, by path in the definition
 */
export function toPlan(
  scenario: Scenario,
  folder: string,
  overrides: PlanOverrides = {},
  change: (plan: Plan) => Plan = (plan) => plan,
): Plan {
  const parsed = v.safeParse(definitionSchema(), readDefinition(scenario, overrides));
  if (!parsed.success)
    throw new UserError([...toProblems(parsed.issues), ...checkLoadAlone(parsed.issues, parsed.output, folder)]);
  const load = convertLoads(parsed.output.load, folder);
  const definition = withInputsOf(load, parsed.output);
  const problems = checkTogether(definition, load, overrides);
  if (problems.length > 0) throw new UserError(problems);
  const built = numberFunctions(buildPlan(definition, load, folder, overrides));
  registerPlan(built);
  const plan = change(built);
  checkPlan(plan, true);
  return { ...plan, ...describeCustomMetrics(plan) };
}

/** Checks each field of a scenario separately. @param absent fields that are not known yet @throws UserError with all problems */
export function checkFields(scenario: Scenario, absent: readonly string[]): void {
  const { issues = [] } = v.safeParse(definitionSchema(), readDefinition(scenario));
  const wrong = issues.filter(({ path }) => !absent.includes(String(path?.[0]?.key)));
  if (wrong.length > 0) throw new UserError(toProblems(wrong));
}

/** Returns the definition of a scenario as plain data; if the scenario runs several times, the definition of one of its runs. */
function readDefinition({ definition }: Scenario, { side, part }: PlanOverrides = {}): unknown {
  let given = copyPlainData(definition);
  if (isAb(given)) given = sideOf(given, side);
  if (hasLoadsByTarget(given)) given = partOf(given, part);
  registerGiven(given);
  return given;
}

/** Registers the secrets of a scenario before validation, because errors show values. */
function registerGiven(definition: unknown): void {
  const { target } = (definition ?? {}) as { readonly target?: GivenTarget & { readonly values?: unknown } };
  registerTarget(target ?? {});
  if (!Array.isArray(target?.values)) return;
  for (const member of target.values as { readonly target?: GivenTarget }[]) registerTarget(member?.target ?? {});
}

interface GivenTarget {
  readonly url?: unknown;
  readonly moreUrls?: unknown;
  readonly options?: { readonly headers?: unknown };
}

function registerTarget({ url, moreUrls, options }: GivenTarget): void {
  for (const address of [url, moreUrls].flat()) if (typeof address === "string") registerUrl(address);
  const headers = options?.headers;
  if (typeof headers !== "object" || headers === null) return;
  for (const [name, value] of Object.entries(headers)) if (typeof value === "string") registerHeaders([[name, value]]);
}

/**
 * Checks the rules of a valid load although other parts of the definition are not valid. @param parsed the valid parts of
 * the definition
 */
function checkLoadAlone(issues: readonly v.BaseIssue<unknown>[], parsed: unknown, folder: string): readonly Problem[] {
  if (issues.some(({ path }) => path === undefined || path[0]?.key === "load")) return [];
  return convertLoads((parsed as Pick<DefinitionData, "load">).load, folder).problems;
}

/** Returns the definition with the inputs that the load contains. @throws UserError if there are other inputs */
function withInputsOf({ plain }: ConvertedLoad, definition: DefinitionData): DefinitionData {
  if (plain?.inputs === undefined) return definition;
  const { inputs } = definition;
  if (inputs === undefined) return { ...definition, inputs: plain.inputs };
  const message = "the trace of the load has its requests";
  throw userError("conflict", "inputs", message, "Leave it out.", describeInputs(inputs));
}

function buildPlan(
  definition: DefinitionData,
  { plan: loadPlan, plain }: ConvertedLoad,
  folder: string,
  overrides: PlanOverrides,
): Plan {
  const { stability, stallTimeout, timeout, maxInFlight, latencyLimit, warmupFor, cancel, maxErrorRate, seed } =
    definition;
  const warmupMs = warmupFor === undefined ? plain?.search?.settleMs : toMs(warmupFor);
  const mode = plain?.extent ?? toStabilityMode(stability ?? {});
  const requestCount = mode.kind === "requests" ? (mode.count ?? undefined) : undefined;
  const { target, inputs, tokens } = toRequestsPlan(definition, folder, requestCount);
  const isAsync = LEVEL_UNITS[levelUnitOf(loadPlan)].isScheduled || target.isStreaming;
  return {
    version: 1,
    name: definition.name,
    ...defined({ parameters: overrides.parameters }),
    target: atServers(target, overrides.urls),
    load: loadPlan,
    sequences: toSequencesPlan(definition.sequences),
    inputs,
    measurement: {
      mode,
      warmupRequests: definition.warmupRequests ?? 0,
      ...defined({ warmupMs }),
      percentile: stability?.percentile ?? null,
      latencyLimitMs: latencyLimit === undefined ? null : toMs(latencyLimit),
      ...defined({ tokens }),
    },
    client: {
      kind: overrides.client ?? definition.client ?? "own",
      callMode: isAsync ? "async" : "auto",
      maxLanes: null,
      stallTimeoutMs: stallTimeout === undefined ? DEFAULT_STALL_TIMEOUT_MS : toMs(stallTimeout),
      ...(timeout === undefined ? {} : { requestTimeoutMs: toMs(timeout) }),
      ...defined({ maxResponseBytes: definition.maxResponseBytes, maxOutstanding: maxInFlight }),
      ...defined({ sourceAddresses: definition.sourceAddresses?.slice(), workers: definition.workers }),
      isMpi: false,
    },
    failures: { maxRatio: maxErrorRate === undefined ? null : toRatio(maxErrorRate) },
    ...(cancel === undefined ? {} : { cancellation: toCancellationPlan(cancel) }),
    telemetry: {
      metrics: toMetricsPlan(definition.metrics, overrides.urls?.[0] ?? definition.target.url),
      trace: toTracePlan(definition.serverTrace),
    },
    assertions: (definition.assert ?? []).map(toAssertionPlan),
    ...defined({
      seed,
      repeat: definition.repeat === undefined ? undefined : toRepeatPlan(definition.repeat),
      tags: definition.tags && toTagsPlan(definition.tags, "tags"),
      derived: definition.derive && toDerivedPlans(definition.derive),
      capacity: definition.capacity && toCapacityPlan(definition.capacity),
      check: definition.check && toFunctionPlan("check", definition.check),
      onRecord: definition.onRecord && toFunctionPlan("onRecord", definition.onRecord),
      limits: plain?.search?.limits.map(toAssertionPlan),
    }),
    outputs: {
      style: "rampart",
      verbosity: 0,
      files: {},
      isVerboseCsv: false,
      ...(overrides.showsLines === undefined ? {} : { showsLines: true }),
    },
  };
}

function atServers(target: Plan["target"], [url, ...moreUrls]: readonly string[] = []): Plan["target"] {
  if (url === undefined || !("url" in target)) return target;
  const { moreUrls: _, ...rest } = target;
  return { ...rest, url, ...(moreUrls.length === 0 ? {} : { moreUrls }) };
}

function toMetricsPlan(metrics: DefinitionData["metrics"], targetUrl: string): MetricsPlan | null {
  if (metrics === undefined) return null;
  const { url = defaultMetricsUrl(targetUrl), every } = metrics;
  const intervalMs = every === undefined ? DEFAULT_METRICS_INTERVAL_MS : toMs(every);
  return { url, intervalMs, ...(metrics.url === undefined ? {} : { isAsked: true }) };
}

function toTracePlan(trace: DefinitionData["serverTrace"]): Plan["telemetry"]["trace"] {
  if (trace === undefined) return null;
  const { file = NO_TRACE.file, levels = NO_TRACE.levels, oneIn = NO_TRACE.rate } = trace;
  const { count = NO_TRACE.count, logFrequency = NO_TRACE.logFrequency } = trace;
  return { file, levels, rate: oneIn, count, logFrequency };
}

function toStabilityMode({
  window,
  requests,
  within,
  trials,
}: NonNullable<DefinitionData["stability"]>): MeasurementModePlan {
  const rule = {
    stabilityPct: within === undefined ? DEFAULT_WINDOWS.stabilityPct : toPct(within),
    maxTrials: trials ?? DEFAULT_WINDOWS.maxTrials,
  };
  if (requests !== undefined) return { kind: "count-windows", requestsPerWindow: requests, ...rule };
  return { kind: "time-windows", windowMs: window === undefined ? DEFAULT_WINDOWS.windowMs : toMs(window), ...rule };
}

/** Returns the problems with fields that only one kind of window, or only a single server, supports. */
function checkServerFields({ stability, serverTrace, target }: DefinitionData): Problem[] {
  const problems: Problem[] = [];
  if (stability?.window !== undefined && stability.requests !== undefined) {
    const message = "a window has a length or a number of requests, not both";
    problems.push(problem("conflict", "stability.requests", message, "Leave one out.", String(stability.requests)));
  }
  if (serverTrace === undefined) return problems;
  if (Object.keys(serverTrace).length === 0)
    problems.push(problem("missing", "serverTrace", "has no setting", 'Write { levels: ["TIMESTAMPS"] }.'));
  const builder = targetBuilderOf(target);
  if (builder.hasServerTrace !== true) {
    const hint = "Leave it out, or measure one triton(…) target.";
    problems.push(
      problem("conflict", "serverTrace", `the target is ${callOf(builder)}, which has no trace settings`, hint),
    );
  }
  return problems;
}

/** Returns conflicts between parts of a scenario. */
function checkTogether(definition: DefinitionData, load: ConvertedLoad, overrides: PlanOverrides): Problem[] {
  const { target } = definition;
  const { plain, plan: loadPlan } = load;
  const assert = [...(definition.assert ?? []), ...(plain?.search?.limits ?? [])];
  const problems = [...load.problems, ...checkBesidePhases(load, definition), ...checkServerFields(definition)];
  const protocols = partsOf(definition).map(
    (part) => part.target.options.protocol ?? targetBuilderOf(part.target).protocol ?? "http",
  );
  const client = overrides.client ?? definition.client ?? "own";
  const path: Text = overrides.client === undefined ? "client" : { setting: "overrides.client" };
  problems.push(...checkClientProtocols(path, client, protocols));
  const judged = [...assert, ...untilOf(definition.repeat)];
  const namedAt = (path: string): string => (path === `assert.${assert.length}` ? "repeat.until" : path);
  problems.push(...checkRepeat(definition.repeat));
  const ofRequests = checkRequests({ ...definition, assert: judged, load: { kind: plain?.kind ?? "phase" } });
  // If a list of loads is wrong, the requirements of its loads are not known.
  const isUnsure = (path: Text): boolean =>
    plain === undefined && load.problems.length > 0 && path === "inputs.sessions";
  problems.push(...ofRequests.filter(({ path }) => !isUnsure(path)).map((found) => movePath(found, namedAt)));
  const targets = partsOf(definition).map((part) => part.target);
  if (plain !== undefined) problems.push(...plain.checkTargets(targets));
  const { startsServer } = targetBuilderOf(target);
  const call = callOf(targetBuilderOf(target));
  const [url] = overrides.urls ?? [];
  if (url !== undefined && startsServer) {
    const message = `the scenario's target is ${call} and has no address`;
    const hint = "Leave it out, or give the scenario a triton(…) target.";
    problems.push(problem("conflict", { setting: "overrides.url" }, message, hint, url));
  }
  if (startsServer && definition.metrics !== undefined && definition.metrics.url === undefined) {
    const hint = "Remove metrics, or give the url of a server that has metrics.";
    problems.push(problem("conflict", "metrics.url", `the target is ${call}, which has no metrics`, hint));
  }
  const { warmupRequests, warmupFor } = definition;
  problems.push(...checkWarmUp(loadPlan, { warmupRequests, warmupFor }));
  for (const [index, { metric }] of judged.entries()) {
    if (needsOf(metric).includes("schedule") && !hasMeasuredSchedule(loadPlan)) {
      const message = `${metric.key} needs a load with a schedule`;
      const hint = 'Use "latency", or rate(…), rateRamp(…), intervals(…) or fixedSchedule() as the load.';
      problems.push(problem("conflict", namedAt(`assert.${index}`), message, hint, loadCallOf(plain)));
    }
  }
  return nameLimits(problems, definition.assert?.length ?? 0);
}

/** Reports the limits of a search under their path. @param count number of assertions before them */
function nameLimits(problems: readonly Problem[], count: number): Problem[] {
  return problems.map((problem) =>
    movePath(problem, (path) => {
      const index = Number(/^assert\.(\d+)$/.exec(path)?.[1] ?? -1);
      return index < count ? path : `load.where.${index - count}`;
    }),
  );
}

/** Returns conflicts of a list of loads with other fields of the scenario. */
function checkBesidePhases(
  { plain }: ConvertedLoad,
  fields: Pick<DefinitionData, "warmupRequests" | "warmupFor" | "latencyLimit">,
): Problem[] {
  if (plain !== undefined) return [];
  const hints = {
    warmupRequests: "Write warmup({ requests: 100 }, …) as the first load of the list.",
    warmupFor: 'Write warmup("10 s", …) as the first load of the list.',
    latencyLimit: 'Write an assertion with abortAfter, such as p99().below("1 s").abortAfter("10 s").',
  };
  return (Object.keys(hints) as (keyof typeof hints)[]).flatMap((name) => {
    const value = fields[name];
    if (value === undefined || value === 0) return [];
    return [problem("conflict", name, "has no meaning for a load of several phases", hints[name], String(value))];
  });
}
