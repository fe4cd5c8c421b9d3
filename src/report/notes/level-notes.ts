import { LEVEL_UNITS } from "../../load/level-units.ts";
import { describeRemedy, explainInstability } from "../../measure/instability.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { stabilizingLatencyNs } from "../../measure/metrics.ts";
import type { TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { explainCut, explainNoRates, findTokenWarnings } from "../../measure/tokens/token-warnings.ts";
import type { Verdict } from "../../measure/verdicts.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, secToNs } from "../../plan/units.ts";
import { planOfPhase } from "../../registry/load-modes.ts";
import { throughputUnitOf } from "../../registry/service-kinds.ts";
import { isFarBehind } from "../../result/judged-levels.ts";
import type { LevelResult, PreparedRun } from "../../result/run-result.ts";
import type { Severity } from "../model/report-model.ts";
import { formatThreeDigits } from "../model/values.ts";
import { UNSENT_LOAD } from "../model/verdict.ts";
import { findClientLimit, findLateSends } from "./client-notes.ts";
import { askedRate, describeUndelivered, loadDelivery } from "./load-delivery.ts";
import { type Finding, findLoad } from "./load-notes.ts";
import { findShortSamples } from "./short-samples.ts";

/**
 * Returns what a reader must know before trusting the numbers of a level; mostly empty.
 * @param whole the plan of the run
 * @param open the verdicts of the report that more requests would decide
 * @param isOnly whether it is the only level
 */
export function findInLevel(
  whole: Plan,
  prepared: PreparedRun,
  result: LevelResult,
  open: readonly Verdict[],
  isOnly: boolean,
): Finding<Text>[] {
  const { window } = result;
  if (window.requestCount + window.failedCount === 0) return [];
  const plan = planOfPhase(whole, result.phase?.index);
  const { tokens } = window;
  const client = findClientLimit(window);
  const undelivered = describeUndelivered(whole, result) === undefined ? undefined : describeMissing(whole, result);
  const isBehind = isFarBehind(result);
  return [
    ...findInstability(whole, plan, result),
    ...(undelivered === undefined
      ? []
      : [finding(isBehind ? UNSENT_LOAD : "load-not-delivered", severityOfMissing(isBehind, window), undelivered)]),
    ...[...findLateSends(plan, prepared, result, client !== undefined), ...findLoad(whole, result)].map(shorten),
    ...(client === undefined ? [] : [client]),
    ...findShortSamples(whole, plan, result, open, isOnly).map(shorten),
    ...(tokens === undefined ? [] : findInTokens(tokens)),
  ];
}

/** A few bunched streams bias only the rate per user, which is not on the first screen. */
const BUNCHED = "bunched-tokens";

function findInTokens(tokens: TokenMeasurement): Finding[] {
  const noRates = explainNoRates(tokens);
  const warnings = findTokenWarnings(tokens).map(({ text, ...found }): Finding => {
    const own = found.code === BUNCHED ? explainCut(tokens) : undefined;
    return { ...found, texts: [own ?? text] };
  });
  if (noRates === undefined || warnings.some(({ code }) => code === BUNCHED)) return warnings;
  return [...warnings, { ...finding(BUNCHED, "detail", noRates), metric: "outputTokensPerSecPerUser" }];
}

/** In a level that is shorter than this, its start and end are a part of the load. */
const SHORT_SEC = 1;

function severityOfMissing(isBehind: boolean, { durationNs }: Measurement): Finding["severity"] {
  if (isBehind) return "wrong";
  return durationNs < secToNs(SHORT_SEC) ? "detail" : "caution";
}

/** Says how much of the load was delivered. */
function describeMissing(whole: Plan, result: LevelResult): string {
  const { asked = 0, delivered, unit } = loadDelivery(whole, result);
  const [some, all] = [formatThreeDigits(delivered), formatCount(asked)];
  return LEVEL_UNITS[unit].isScheduled
    ? `only ${some} of the ${all} req/s asked for were sent`
    : `only ${some} of ${all} requests were in flight on average`;
}

/** Rounds the times of a finding to three digits. Texts that compatible modes share have four. */
function shorten({ texts, ...rest }: Finding): Finding {
  const round = (time: string): string => (time.replace(".", "").length > 3 ? formatThreeDigits(Number(time)) : time);
  return { ...rest, texts: texts.map((text) => text.replace(/\d+\.\d+(?= (?:us|ms|s|min)\b)/g, round)) };
}

function finding(code: string, severity: Severity, ...texts: string[]): Finding {
  return { code, severity, texts };
}

function findInstability(whole: Plan, plan: Plan, result: LevelResult): Finding<Text>[] {
  const { instability, window, level, repeats, isLatencyUnstable } = result;
  const found: Finding<Text>[] = [];
  if (instability !== undefined) {
    const unit = throughputUnitOf(whole.target);
    const { moved, cause, remedy } = explainInstability(instability, window, askedRate(plan, level), unit);
    const advice = describeRemedy(remedy, plan.measurement.mode);
    found.push({ code: "not-stable", severity: "wrong", texts: [`not stable: ${moved}`, cause, advice] });
  }
  if (repeats !== undefined) found.push(finding("measured-again", "detail", describeRepeats(whole, repeats)));
  if (isLatencyUnstable)
    found.push(
      finding(
        "latency-not-stable",
        "caution",
        "only throughput is stable, which is enough for asynchronous requests; latency is not",
      ),
    );
  return found;
}

const OUTCOMES = { measured: "", unstable: " (not stable)", partial: " (partial)", "over-limit": " (over the limit)" };

/** Describes the results of a level's other measurements, by the latency that is compared with the limit. */
function describeRepeats({ measurement }: Plan, repeats: readonly LevelResult[]): string {
  const others = repeats.map(({ window, outcome }) => {
    const latency = formatDurationNs(stabilizingLatencyNs(window, measurement.percentile));
    return `${window.requestCount === 0 ? "nothing" : latency}${OUTCOMES[outcome]}`;
  });
  return `measured ${repeats.length + 1} times, as a latency limit ends the run here; the others: ${others.join(", ")}`;
}
