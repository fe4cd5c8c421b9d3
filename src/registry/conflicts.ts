import { countLevels, MOST_LEVELS, rangeOf } from "../load/levels.ts";
import { labelPhase } from "../load/phases.ts";
import { metricOf, needsOf, needsTokens } from "../measure/metrics/catalogue.ts";
import type { Need } from "../measure/metrics/metric.ts";
import type { AssertionPlan } from "../plan/assertions.ts";
import { TARGET_TAG, type Tags, type TagsPlan, unknownTags } from "../plan/groups/tags.ts";
import type { Text } from "../plan/messages.ts";
import { clientsOf, type Plan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { formatCount } from "../plan/units.ts";
import type { RequestForm } from "../service/service.ts";
import { checkDerived, customMetricsOf } from "./custom-metrics.ts";
import { checkOrder, INPUT_KINDS, inputKindOf } from "./input-kinds.ts";
import { loadModeOf } from "./load-modes.ts";
import { membersOf, tokensPlanOf } from "./mix.ts";
import { targetKindOf, urlsOf } from "./service-kinds.ts";

/**
 * Returns conflicts between the parts of a plan whose values are valid. Loads no schemas, so that each run can check for
 * conflicts before it connects to the server.
 */
export function findConflicts(plan: Plan): Problem[] {
  return [
    ...(targetKindOf(plan.target).check?.(plan.target, plan) ?? []),
    ...checkInputs(plan),
    ...checkCustomMetrics(plan),
    ...checkDerived(plan),
    ...checkTags(plan),
    ...checkPhases(plan),
    ...checkServerMetrics(plan),
    ...checkLimits(plan),
    ...checkClient(plan),
    ...checkLoad(plan),
  ];
}

/** Returns problems with inputs and assertions that the target cannot have. */
function checkInputs(plan: Plan): Problem[] {
  const problems: Problem[] = [];
  const { target } = plan;
  const takes = targetKindOf(target).takes(target);
  if (inputKindOf(plan.inputs).makes !== takes) {
    const message = "do not fit the target";
    const hint = `This target takes ${takes}: use one of ${inputsThatMake(takes).join(", ")}, or another target.`;
    problems.push(problem("conflict", "inputs.kind", message, hint, plan.inputs.kind));
  }
  const asserted = [...plan.assertions, ...(plan.limits ?? [])];
  if (tokensPlanOf(plan) === undefined && asserted.some(({ metric }) => needsTokens(metric))) {
    const message = "metrics of tokens need a target whose tokens are measured";
    const hint = "Leave them out, or measure a target whose responses are text.";
    problems.push(problem("conflict", "assert", message, hint));
  }
  return problems;
}

/** Returns problems with missing or superfluous settings of a bus. */
function checkBus({ bus }: Plan["client"]): Problem[] {
  if (bus === undefined) return [];
  const { url, agentCount = 1, allowLost = 0 } = bus;
  const problems: Problem[] = [];
  if (url === undefined || url === "") {
    const hint = "Give the NATS server on which the agents wait: nats://HOST:4222.";
    problems.push(problem("missing", { setting: "client.bus.url" }, "is needed where agents are to send", hint));
  }
  if (allowLost >= agentCount) {
    const message = "must be below the number of agents, because somebody must send";
    problems.push(problem("conflict", { setting: "client.bus.allowLost" }, message, "Lower it.", String(allowLost)));
  }
  return problems;
}

function checkClient({ client, measurement, target, telemetry }: Plan): Problem[] {
  const problems: Problem[] = [];
  const at: Text = { setting: "client.kind" };
  if (client.kind === "undici" && measurement.tokens?.isStreamed === true) {
    const message = "undici does not report when each event of a stream arrived";
    problems.push(problem("unsupported", at, message, "Use own.", "undici"));
  }
  problems.push(...checkClientProtocols(at, client.kind, [target.protocol]));
  problems.push(...checkSources(client, target), ...checkBus(client));
  if (target.isStreaming && client.callMode === "sync") {
    problems.push(problem("conflict", "client.callMode", "streams are asynchronous", "Use async.", "sync"));
  }
  if (telemetry.trace !== null && urlsOf(target).length > 1)
    problems.push(
      problem("conflict", "target.moreUrls", "trace settings can be set on one server only", "Measure one server."),
    );
  return problems;
}

/** Returns why a client cannot send to targets with these protocols. @param at where the client is chosen */
export function checkClientProtocols(
  at: Text,
  kind: Plan["client"]["kind"],
  protocols: readonly Plan["target"]["protocol"][],
): Problem[] {
  const other = protocols.find((protocol) => !clientsOf(protocol).includes(kind));
  if (other === undefined) return [];
  const [spoken, needed] = other === "grpc" ? ["HTTP", "gRPC"] : ["gRPC", "HTTP"];
  const hint = `Use ${clientsOf(other).join(" or ")}.`;
  return [problem("conflict", at, `${kind} speaks ${spoken} only, and the target ${needed}`, hint, kind)];
}

const SESSIONS_HINT = 'Give the load a time, such as for: "1 min", or leave the warm-up out.';

/** Returns why a load cannot have a warm-up. @param given length of the warm-up by its path at the front door; 0: no warm-up */
export function checkWarmUp(
  load: Plan["load"],
  given: Readonly<Record<string, string | number | undefined>>,
): Problem[] {
  const { requestCount, dataOrder } = loadModeOf(load);
  if (requestCount?.(load) === undefined) return [];
  const [message, hint] =
    dataOrder === "in-sessions"
      ? ["needs a load with a time: this one holds each conversation once", SESSIONS_HINT]
      : ["this load already fixes the number of requests, so warm-up requests cannot be added", "Leave it out."];
  return Object.entries(given).flatMap(([path, value = 0]) =>
    value === 0 ? [] : [problem("conflict", path, message, hint, String(value))],
  );
}

function checkSources({ kind, sourceAddresses }: Plan["client"], target: Plan["target"]): Problem[] {
  if (sourceAddresses === undefined) return [];
  const reasons = [
    ...(kind === "grpc-js" ? ["grpc-js cannot choose the address that its connections come from"] : []),
    ...(targetKindOf(target).isInProcess === true ? ["a target inside this process has no connections"] : []),
  ];
  const at: Text = { setting: "client.sourceAddresses" };
  return reasons.map((reason) => problem("unsupported", at, reason, "Leave it out.", sourceAddresses.join(", ")));
}

/** Returns conflicts between the load, the measurement and the order of the data. */
function checkLoad(plan: Plan): Problem[] {
  const problems: Problem[] = [];
  const { load, measurement } = plan;
  const mode = loadModeOf(load);
  const asked = mode.levels?.(load);
  if (asked?.search === "binary" && measurement.latencyLimitMs === null) {
    problems.push(
      problem("missing", "measurement.latencyLimitMs", "a binary search needs a latency limit", "Give one."),
    );
  }
  const isSearch = asked?.search === "highest";
  if (isSearch !== (plan.limits !== undefined) || isSearch !== (measurement.mode.kind === "until-resolved")) {
    const message =
      "a search for the highest load needs limits and is measured until they are resolved, and no other load is";
    problems.push(problem("conflict", "limits", message, ""));
  }
  const hasOwnCount = measurement.mode.kind === "requests" && measurement.mode.count === null;
  if (hasOwnCount !== (mode.requestCount?.(load) === null)) {
    const message = "must be null for fixed schedules and sessions, and a number for all other loads";
    problems.push(problem("conflict", "measurement.mode.count", message, ""));
  }
  problems.push(...checkOrder(plan));
  const { warmupRequests, warmupMs } = measurement;
  const warmUp = { "measurement.warmupRequests": warmupRequests, "measurement.warmupMs": warmupMs };
  problems.push(...checkWarmUp(load, warmUp));
  if (asked !== undefined && rangeOf(asked.levels)?.end === null && measurement.latencyLimitMs === null) {
    const message = "a range without an end needs a latency limit";
    problems.push(problem("missing", "load.levels.end", message, "Give an end or a latency limit."));
  }
  problems.push(...checkLevelCounts(plan));
  return problems;
}

/** Returns why a load, or one of its phases, has too many levels. A latency limit or a search may end it after a few. */
function checkLevelCounts({ load, measurement }: Plan): Problem[] {
  if (measurement.latencyLimitMs !== null) return [];
  const phases = loadModeOf(load).phases?.(load);
  return (phases ?? [{ load }]).flatMap((phase, index): Problem[] => {
    const asked = loadModeOf(phase.load).levels?.(phase.load);
    const count = asked?.search === "linear" ? (countLevels(asked.levels) ?? 0) : 0;
    if (count <= MOST_LEVELS) return [];
    const message = `has ${formatCount(count)} levels, above the limit of ${formatCount(MOST_LEVELS)}`;
    const path = phases === undefined ? "load" : `load.${index}`;
    return [problem("invalid-value", path, message, "Give a larger step, or a latency limit.")];
  });
}

type Judged = Omit<AssertionPlan, "comparison"> & { readonly path: string };

/** Returns every use of a metric by its path in a scenario: assertions, limits of a search, and the precision that ends a repetition. */
function judgedOf({ assertions, limits = [], repeat }: Plan): readonly Judged[] {
  return [
    ...assertions.map((one, index) => ({ ...one, path: `assert.${index}` })),
    ...limits.map((one, index) => ({ ...one, path: `load.where.${index}` })),
    ...(repeat?.until === undefined ? [] : [{ ...repeat.until, limit: 0, path: "repeat.until" }]),
  ];
}

/** Returns problems with assertions on metrics that the scenario does not define, and with limits that no metric can have. */
function checkCustomMetrics(plan: Plan): Problem[] {
  const known = customMetricsOf(plan);
  return judgedOf(plan).flatMap(({ metric, limit, path }): Problem[] => {
    const { definedIn, quantity } = metricOf(metric);
    const isSigned = definedIn !== undefined && quantity === "number";
    if (limit < 0 && !isSigned) return [problem("invalid-value", path, "must be 0 or more", "", String(limit))];
    if (definedIn === undefined) return [];
    const isDerived = definedIn === "derive";
    const names = (isDerived ? known.derived : known.extracted).map(({ name }) => name);
    if (metric.name !== undefined && names.includes(metric.name)) return [];
    const message = isDerived
      ? "the scenario derives no metric of this name"
      : "the target extracts no value of this name";
    const missing = isDerived ? "Define it in derive." : "Name it in extract, in the target's options.";
    const hint = names.length === 0 ? missing : `Use ${names.join(" or ")}.`;
    return [problem("unknown-name", path, message, hint, metric.name)];
  });
}

/** The tags of the requests of a target, as far as they are known before its inputs are read. */
interface KnownTags {
  readonly fixed: Tags;
  /** Whether the target's inputs or a function can add other tags. */
  readonly isOpen: boolean;
}

/** Returns problems with assertions on tags that no request can have. */
function checkTags(plan: Plan): Problem[] {
  const known = knownTags(plan);
  const canHave = ({ fixed, isOpen }: KnownTags, wanted: Tags): boolean =>
    Object.entries(wanted).every(([name, value]) => fixed[name] === value || (isOpen && name !== TARGET_TAG));
  return plan.assertions.flatMap(({ where }, index) => {
    if (where === undefined || known.some((part) => canHave(part, where))) return [];
    return [
      unknownTags(
        `assert.${index}`,
        where,
        known.map(({ fixed }) => fixed),
      ),
    ];
  });
}

/** Returns problems with assertions on a phase that the load does not have or does not measure. */
function checkPhases(plan: Plan): Problem[] {
  const { load } = plan;
  const phases = loadModeOf(load).phases?.(load) ?? [];
  const known = phases.flatMap((phase) => (phase.isWarmup ? [] : labelPhase(phase, loadModeOf(phase.load))));
  const hint =
    known.length === 0
      ? 'Make the load a list, with phase("name", load).'
      : `The measured phases are ${[...new Set(known)].join(", ")}.`;
  return judgedOf({ ...plan, limits: [] }).flatMap(({ phase, path }) =>
    phase === undefined || known.includes(phase)
      ? []
      : [problem("unknown-name", path, "the load measures no phase of this name", hint, phase)],
  );
}

function knownTags({ target, inputs, tags }: Plan): KnownTags[] {
  const isOpen = (given: Plan["inputs"], functions: readonly (TagsPlan | undefined)[]): boolean =>
    inputKindOf(given).canHaveTags?.(given) === true || functions.some((one) => one?.of !== undefined);
  const members = membersOf(target);
  if (members.length === 0) return [{ fixed: { ...tags?.fixed }, isOpen: isOpen(inputs, [tags]) }];
  return members.map((member) => ({
    fixed: { [TARGET_TAG]: member.name, ...member.tags?.fixed, ...tags?.fixed },
    isOpen: isOpen(member.inputs, [member.tags, tags]),
  }));
}

/** Returns problems with assertions on server metrics that this run cannot have. */
function checkServerMetrics(plan: Plan): Problem[] {
  const { target, telemetry } = plan;
  const kinds = [target, ...membersOf(target).map((member) => member.target)].map(targetKindOf);
  const reasons: Readonly<Partial<Record<Need, readonly [message: string, hint: Text] | false>>> = {
    statistics: kinds.every(({ hasNoStatistics }) => hasNoStatistics === true) && [
      "needs a server that reports its own times, and this target has none",
      ["Leave it out, or measure a Triton server with ", { setting: "target.kind=triton" }, "."],
    ],
    gauges: telemetry.metrics === null && [
      "needs the server's page of metrics, which is not read",
      [
        "Leave it out, or add ",
        { setting: "telemetry.metrics" },
        ", with the url of the page if it is not port 8002 of the server.",
      ],
    ],
  };
  return judgedOf(plan).flatMap(({ metric, path, where = {}, abortAfterMs }) =>
    needsOf(metric).flatMap((need): Problem[] => {
      if (need !== "statistics" && need !== "gauges") return [];
      const reason = reasons[need];
      const refuse = (message: string, hint: Text): Problem[] => [
        problem("unsupported", path, `${metric.key} ${message}`, hint),
      ];
      if (reason !== undefined && reason !== false) return refuse(...reason);
      if (abortAfterMs !== undefined)
        return refuse("is read at the end of a measurement only", "Leave abortAfter out.");
      const isOfPart = Object.keys(where).some((tag) => need === "gauges" || tag !== TARGET_TAG);
      return isOfPart ? refuse("is of all requests of a server together", "Leave where(…) out.") : [];
    }),
  );
}

/** Returns problems with limits of a search on a subset of the requests: its confidence intervals are those of all requests. */
function checkLimits({ limits = [] }: Plan): Problem[] {
  return limits.flatMap(({ where, phase }, index): Problem[] => {
    if (where === undefined && phase === undefined) return [];
    const message = "a search has limits on all requests, and not on those with certain tags or in a phase";
    return [problem("unsupported", `load.where.${index}`, message, "Leave where(…) out, or put it into assert.")];
  });
}

function inputsThatMake(form: RequestForm): string[] {
  return Object.entries(INPUT_KINDS).flatMap(([name, { makes }]) => (makes === form ? [name] : []));
}
