import type { WrittenRange } from "../../load/levels.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import {
  errorRate,
  max,
  mean,
  metric,
  min,
  outputTokensPerSec,
  p99,
  percentile,
  throughput,
} from "../../scenario/assertions.ts";
import type { Scenario } from "../../scenario/define.ts";
import { scenarioOf } from "../../scenario/define.ts";
import { hold, ramp, steps } from "../../scenario/loads/concurrency.ts";
import { findMax } from "../../scenario/loads/find-max.ts";
import type { Answers } from "../../wizard/answers.ts";
import { toTimes } from "../../wizard/goals/limit.ts";
import { toDuration } from "../../wizard/goals/loads.ts";
import { scenarioName } from "../../wizard/questions.ts";
import { nameOf, requestsOf } from "../../wizard/requests.ts";
import { evaluate } from "../../wizard/source/evaluate.ts";
import { formatFile, type ScenarioField } from "../../wizard/source/format.ts";
import { Call, call, isFields, type Source, type SourceFields } from "../../wizard/source/source.ts";
import { WIZARD_TARGETS, type WizardTarget } from "../../wizard/targets.ts";
import { SEARCHED_USERS, type UrlKind, USUAL_USERS } from "./kinds.ts";
import type { Slo, UrlSettings, Users } from "./settings.ts";

/** The measurement of `rampart llm` and `rampart triton` as a scenario: its text and its definition. */

/** Facts that were found out about the server. */
export type Found = Pick<Answers, "url" | "protocol" | "model" | "tokenizer" | "shapes">;

/** A scenario and its text. */
export interface MadeScenario {
  readonly scenario: Scenario;
  readonly text: string;
}

/** Returns the scenario. */
export function makeScenario(kind: UrlKind, settings: UrlSettings, found: Found): MadeScenario {
  const { isl, osl, slos, capacity, save = "./x.ts" } = settings;
  const answers: Answers = {
    ...found,
    target: kind.target,
    goal: slos.length > 0 ? "limit" : "curve",
    isl: String(isl),
    osl: String(osl),
    save,
  };
  const target = wizardTarget(kind);
  const fields: ScenarioField[] = [
    { name: "name", value: scenarioName(answers) },
    { name: "target", value: withOptions(target.toTarget(answers), settings) },
    slos.length > 0 ? searchOf(kind, settings) : sweepOf(kind, settings),
    ...requestsOf(answers, target),
    ...(capacity === undefined ? [] : [{ name: "capacity", value: { ...capacity } }]),
  ];
  const title =
    slos.length > 0
      ? `How many users can ${nameOf(answers)} take within its limits?`
      : `How do throughput and latency of ${nameOf(answers)} change with the number of users?`;
  const scenario = scenarioOf(Object.fromEntries(fields.map(({ name, value }) => [name, evaluate(value)])));
  return { scenario, text: formatFile({ title, fields }) };
}

/** Returns the target of a server without a model, for querying its models. */
export function makeTarget(kind: UrlKind, settings: UrlSettings, found: Found): unknown {
  return evaluate(withOptions(wizardTarget(kind).toTarget({ tokenizer: "none", ...found }), settings));
}

function wizardTarget({ target }: UrlKind): WizardTarget {
  return WIZARD_TARGETS[target] as WizardTarget;
}

/** Adds options that the wizard does not ask for. */
function withOptions({ builder, args }: Call, { headers, apiKeyEnv, isInsecure }: UrlSettings): Call {
  const last = args.at(-1);
  const options: SourceFields = last !== undefined && isFields(last) ? last : {};
  const all: SourceFields = {
    ...options,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...defined({ apiKeyEnv }),
    ...(isInsecure ? { tls: { verify: false } } : {}),
  };
  return new Call(builder, [...args.slice(0, -1), all]);
}

function sweepOf({ eachFor }: UrlKind, { users, extent = { for: eachFor } }: UrlSettings): ScenarioField {
  const each: SourceFields = "for" in extent ? { for: toDuration(extent.for) } : { ...extent };
  if (users === undefined) {
    const comment = "Throughput stops growing at the knee: ends two levels above it.";
    return { name: "load", value: call({ steps }, USUAL_USERS, { ...each, until: "knee" }), comment };
  }
  if ("step" in users)
    return { name: "load", value: call({ ramp }, users.start, users.end, { ...stepOf(users), ...each }) };
  const [first = 1, ...others] = users;
  return { name: "load", value: others.length === 0 ? call({ hold }, first, each) : call({ steps }, users, each) };
}

function searchOf({ forAtMost }: UrlKind, { users, extent, slos }: UrlSettings): ScenarioField {
  const most = extent !== undefined && "for" in extent ? extent.for : forAtMost;
  const value = call({ findMax }, { range: searchedUsers(users), where: slos.map(toLimit), ...toTimes({ for: most }) });
  const comment =
    "Raises the number of users until a limit breaks, then bisects; each is measured until it is certain.";
  return { name: "load", value, comment };
}

function searchedUsers(users: Users = SEARCHED_USERS): Call {
  if ("step" in users) return call({ ramp }, users.start, users.end, stepOf(users));
  const [most = 1, ...others] = users;
  return others.length === 0 ? call({ ramp }, 1, most) : call({ steps }, users);
}

function stepOf({ step }: WrittenRange): SourceFields {
  return step === 1 ? {} : { step };
}

/** Returns the builder of a limit: `p99("timeToFirstToken").atMost("200 ms")`. */
function toLimit({ assertion: { metric, comparison }, value }: Slo): Call {
  return metricCall(metric).with(comparison === "at-least" ? "atLeast" : "atMost", toValue(value));
}

/** Builders that are named for their metric. */
const NAMED: Readonly<Record<string, (() => object) | undefined>> = { errorRate, outputTokensPerSec, throughput };

function metricCall({ key, statistic }: AssertionPlan["metric"]): Call {
  const named = NAMED[key];
  if (statistic === undefined) return named === undefined ? call({ metric }, key) : call({ [key]: named });
  if (typeof statistic !== "number") return call({ [statistic]: { max, mean, min }[statistic] }, key);
  return statistic === 99 ? call({ p99 }, key) : call({ percentile }, statistic, key);
}

/** Writes a limit in the notation of scenarios: `200 ms`, `1 %`, or a number. */
function toValue(text: string): Source {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  return text.endsWith("%") ? `${text.slice(0, -1).trim()} %` : toDuration(text);
}
