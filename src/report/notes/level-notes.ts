import { LEVEL_UNITS } from "../../load/level-units.ts";
import { type ClientLag, clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import { clientLimitText, isBusy, saturationReason } from "../../measure/client-limit.ts";
import { stabilizingLatencyNs } from "../../measure/derived-values.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { explainNoRates, findTokenWarnings } from "../../measure/tokens/token-warnings.ts";
import type { Verdict } from "../../measure/verdicts.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { countOf, formatCount, formatDurationNs, formatPct, msToNs, plural, secToNs } from "../../plan/units.ts";
import { planOfPhase } from "../../registry/load-modes.ts";
import { isFarBehind } from "../../result/judged-levels.ts";
import type { LevelResult, PreparedRun } from "../../result/run-result.ts";
import type { Severity } from "../model/report-model.ts";
import { formatThreeDigits, formatTime } from "../model/values.ts";
import {
  describeUndelivered,
  loadDelivery,
  ONLY_THROUGHPUT,
  UNSENT_LOAD,
  whyLate,
  whyUnstable,
} from "./load-delivery.ts";
import { type Finding, findLoad } from "./load-notes.ts";
import { findShortSamples } from "./short-samples.ts";

/**
 * Returns warnings that a reader needs before trusting the numbers of a level; mostly empty.
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
      : [
          finding(
            isBehind ? UNSENT_LOAD : "load-not-delivered",
            severityOfMissing(isBehind, result, client !== undefined),
            undelivered,
            ...(isBehind ? ["lower the load, or give the client more cores or hosts"] : []),
          ),
        ]),
    ...[...findLateSends(plan, prepared, result, client !== undefined), ...findLoad(whole, result)].map(shorten),
    ...(client === undefined ? [] : [client]),
    ...findWorkers(result),
    ...findShortSamples(whole, plan, result, open, isOnly).map(shorten),
    ...(tokens === undefined ? [] : [...findInTokens(tokens, window), ...findUncounted(tokens)]),
  ];
}

/** A few bunched streams bias only the rate per user, which is not on the first screen. */
const BUNCHED = "bunched-tokens";

function findInTokens(tokens: TokenMeasurement, { failedCount }: Measurement): Finding[] {
  const noRates = explainNoRates(tokens);
  // Failed requests have a separate column and table.
  const isShown = tokens.emptyCount === 0 && tokens.failedCount <= failedCount;
  const found = findTokenWarnings(tokens).filter(({ code }) => !isShown || code !== "responses-left-out");
  const warnings = found.map(({ text, ...found }): Finding => ({ ...found, texts: [text] }));
  if (noRates === undefined || warnings.some(({ code }) => code === BUNCHED)) return warnings;
  return [...warnings, { ...finding(BUNCHED, "detail", noRates), metric: "outputTokensPerSecPerUser" }];
}

/** Reports responses whose output is not counted: a sum over the others is not a rate. */
function findUncounted({ count, metrics }: TokenMeasurement): Finding<Text>[] {
  const counted = metrics.outputTokens?.count ?? 0;
  if (counted === count) return [];
  const code = (metrics.serverOutputTokens?.count ?? 0) > counted ? "text-not-counted" : "no-token-counts";
  return [{ code, severity: "caution", metric: "outputTokensPerSec", texts: [{ say: code }] }];
}

/** In a level shorter than this, the start and the end are a considerable part of the load. */
const SHORT_SEC = 1;

/** @param isClientKnown whether another note blames the client */
function severityOfMissing(
  isBehind: boolean,
  { outcome, window }: LevelResult,
  isClientKnown: boolean,
): Finding["severity"] {
  if (isBehind) return "wrong";
  // The verdict explains why a level ended early.
  return isClientKnown || outcome === "partial" || window.durationNs < secToNs(SHORT_SEC) ? "detail" : "caution";
}

/** Describes how much of the load was delivered. */
function describeMissing(whole: Plan, result: LevelResult): string {
  const { asked = 0, delivered = 0, unit } = loadDelivery(whole, result);
  const [some, all] = [formatThreeDigits(delivered), formatCount(asked)];
  return LEVEL_UNITS[unit].isScheduled
    ? `only ${some} of the ${all} req/s asked for were sent`
    : `only ${some} of ${all} ${plural(asked, "request was", "requests were")} in flight on average`;
}

/** Rounds the times of a finding to three digits. Texts shared with compatible modes have four. */
function shorten({ texts, ...rest }: Finding<Text>): Finding<Text> {
  const round = (time: string): string => (time.replace(".", "").length > 3 ? formatThreeDigits(Number(time)) : time);
  const short = (text: string): string => text.replace(/\d+\.\d+(?= (?:us|ms|s|min)\b)/g, round);
  return { ...rest, texts: texts.map((text) => (typeof text === "string" ? short(text) : text)) };
}

function finding(code: string, severity: Severity, ...texts: string[]): Finding {
  return { code, severity, texts };
}

function findInstability(whole: Plan, plan: Plan, result: LevelResult): Finding<Text>[] {
  const { repeats, isLatencyUnstable } = result;
  const why = whyUnstable(plan, result);
  const [moved, cause] = why?.brief ?? ["", ""];
  const texts = why === undefined ? [] : [`not stable: ${moved}`, cause, why.advice];
  const metric = why?.metric === undefined ? {} : { metric: why.metric };
  return [
    ...(why === undefined ? [] : [{ code: "not-stable", severity: "wrong", texts, ...metric } as const]),
    ...(repeats === undefined ? [] : [finding("measured-again", "detail", describeRepeats(whole, repeats))]),
    ...(isLatencyUnstable ? [{ ...finding("latency-not-stable", "caution", ONLY_THROUGHPUT), metric: "latency" }] : []),
  ];
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

/** Reports that the client may have affected the numbers of a level: it was late, or it was the limit. */
function findClientLimit(window: Measurement): Finding<Text> | undefined {
  if (window.durationNs < LEAST_TIME_NS) return undefined;
  const lag = clientLagOf(window);
  // The lag is more informative: it shows the effect of a busy client on the times.
  if (explainLag(lag, reportedTimes(window)) !== undefined)
    return { ...describeLag(lag), weight: lag.coreWaitRatio ?? 0 };
  const reason = saturationReason(window);
  if (reason === undefined) return undefined;
  // Another thread helps if this one is busy, but not if it waits for a core.
  const remedy = isBusy(window) ? [{ say: "more-workers" } as const] : [];
  return {
    ...CLIENT,
    code: "client-limit",
    metric: "throughput",
    cause: "limit",
    texts: [clientLimitText(reason), ...remedy],
    weight: 1,
  };
}

/** In less time, the client's usage of its core is random. */
const LEAST_TIME_NS = msToNs(100);

/** All levels share one note about the client, with the worst finding. */
const CLIENT = { severity: "caution", kind: "client" } as const;

/** Reports how many threads sent a level, if the run decides that. */
function findWorkers({ workers }: LevelResult): Finding[] {
  if (workers === undefined) return [];
  const { count, reason } = workers;
  const why = reason === undefined ? [] : [`one fewer was the limit at the level before: ${reason}`];
  return [finding("workers", "detail", `${countOf(count, "worker")} sent`, ...why)];
}

/** Reports requests that were sent later than due. @param isClientKnown whether another note blames the client */
function findLateSends(plan: Plan, prepared: PreparedRun, result: LevelResult, isClientKnown: boolean): Finding[] {
  const shortfall = whyLate({ ...prepared, plan }, result);
  if (shortfall === undefined) return [];
  // The rates are in the note on the delivered load.
  const { late, lateRatio, cause, bound } = shortfall;
  const why = bound === "client" && isClientKnown ? [] : [cause];
  const texts = [...(late === undefined ? [] : [`${late}: look at "scheduled p99"`]), ...why];
  const head = { code: "sent-late", severity: "caution", metric: "scheduledLatency" } as const;
  return texts.length === 0 ? [] : [{ ...head, texts, kind: `late ${bound}`, weight: lateRatio }];
}

/** A smaller ratio of the time is noise. */
const LEAST_RATIO = 0.05;

/** Describes the client's lag, by the measure that shows it best, and what to do. */
function describeLag({ coreWaitRatio = 0, loopLagMeanNs, loopLagP99Ns, sendMeanNs }: ClientLag): Finding<Text> {
  const late = (cause: string, text: string): Finding<Text> => {
    const texts = [text, "give it its own core, or lower the load"];
    return { ...CLIENT, code: "client-late", metric: "latency", cause, texts };
  };
  if (coreWaitRatio >= LEAST_RATIO) {
    return late(
      "core",
      `the client waited for a core ${formatPct(coreWaitRatio, 2)} of the time, so times may be too long`,
    );
  }
  if (sendMeanNs > loopLagMeanNs) return late("send", `the client took ${formatTime(sendMeanNs)} to send a request`);
  const p99 = loopLagP99Ns === undefined ? "" : ` (p99 ${formatTime(loopLagP99Ns)})`;
  return late("loop", `the client woke up about ${formatTime(loopLagMeanNs)}${p99} late, so times may be too long`);
}
