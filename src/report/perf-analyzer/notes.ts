import { inferPerSec, meanGapNs, responsesPerSec } from "../../measure/derived-values.ts";
import { latencyOf, type Measurement } from "../../measure/measurement.ts";
import type { RateShortfall } from "../../measure/rate-shortfall.ts";
import { percentileUs } from "../../measure/sketch.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { plural } from "../../plan/units.ts";
import type { LevelResult, PreparedRun } from "../../result/run-result.ts";
import { describeDelivery, describeUndelivered, whyLate, whyUnstable } from "../notes/load-delivery.ts";
import { describeLoadNotes } from "../notes/load-notes.ts";
import { formatStreamNumber, toWholeUs } from "./number-format.ts";
import { reportedPercentiles } from "./reported-levels.ts";

/** Explains what varied in a level that did not become stable, why, and which setting would help. */
export function unstableNotes(level: LevelResult, plan: Plan): Text[] {
  const why = whyUnstable(plan, level);
  return why === undefined ? [] : [`${why.moved}.`, [`${why.cause}. `, why.advice, "."]];
}

/**
 * Explains why fewer requests were sent than scheduled. Empty if all were sent.
 * @param isClientKnown whether another line already names the client as the cause
 */
export function scheduleNotes(level: LevelResult, prepared: PreparedRun, isClientKnown: boolean): Text[] {
  const shortfall = whyLate(prepared, level);
  if (shortfall === undefined) return [];
  const { achieved, cause, bound } = shortfall;
  const why: Text[] = bound === "client" && isClientKnown ? [] : [[`${cause}. `, SHORTFALL_ADVICE[bound]]];
  return [`${achieved}.`, ...why];
}

/**
 * Compares the requested load with the delivered load, and checks Little's law: in verbose mode always, otherwise only deviations
 * beyond the tolerance. perf_analyzer reports neither.
 * @param isExplained whether another line explains why the load was not delivered, which is then sufficient
 */
export function loadNotes(level: LevelResult, plan: Plan, isExplained: boolean): string[] {
  const isVerbose = plan.outputs.verbosity > 0;
  const load = isVerbose ? describeDelivery(plan, level) : isExplained ? undefined : describeUndelivered(plan, level);
  return [
    ...(load === undefined ? [] : [`load: ${load}.`]),
    ...describeLoadNotes(plan, level).map((note) => `${note}.`),
  ];
}

const SHORTFALL_ADVICE: Readonly<Record<RateShortfall["bound"], Text>> = {
  lanes: { say: "more-lanes" },
  sequences: { say: "more-sequences" },
  outstanding: "Lower the rate, or give the client more CPU time.",
  client: "Lower the rate, or give the client more CPU time.",
};

/** Reports the latencies of first responses. perf_analyzer documents these, but prints the latency of the last. */
export function firstResponseNote(window: Measurement, percentile: number | null): string {
  const first = latencyOf(window, "firstResponse");
  if (first.count === 0) return "no request had a response with content";
  const percentiles = reportedPercentiles(percentile).map((shown) => `p${shown} ${percentileUs(first, shown)} usec`);
  return `the latencies are those of the last response; of the first: avg ${toWholeUs(first.mean)} usec, ${percentiles.join(", ")}`;
}

/** Reports the responses of requests that have several, without the terms of decoupled models. */
export function responsesNote(window: Measurement): string {
  const gapNs = meanGapNs(window);
  const gap = gapNs === undefined ? "" : `, on average ${toWholeUs(gapNs)} usec between those of a request`;
  return `${window.responseCount} ${plural(window.responseCount, "response")}, ${formatStreamNumber(responsesPerSec(window))} responses/sec${gap}`;
}

/** Reports results of periodic concurrency and of sessions, for which perf_analyzer prints nothing. */
export function silentNote({ window, outcome }: LevelResult, { target, outputs, measurement }: Plan): Text {
  const { requestCount, responseCount, latency } = window;
  const throughput = `${formatStreamNumber(inferPerSec(window, target.batchSize))} infer/sec, ${formatStreamNumber(responsesPerSec(window))} responses/sec`;
  const latencyUs = `latency avg ${toWholeUs(latency.mean)} usec, p99 ${percentileUs(latency, 99)} usec`;
  const first = responseCount === requestCount ? "" : `; ${firstResponseNote(window, measurement.percentile)}`;
  const limit = `the latency is over the limit of ${measurement.latencyLimitMs} msec; `;
  const { profileExport } = outputs.files;
  const place: Text = profileExport === undefined ? { say: "keep-requests" } : `the requests are in ${profileExport}`;
  const end: Text = outcome === "partial" ? "the run ended early" : [outcome === "over-limit" ? limit : "", place];
  return [
    `${requestCount} ${plural(requestCount, "request")} with ${responseCount} ${plural(responseCount, "response")}, ${throughput}, ${latencyUs}${first}; `,
    end,
  ];
}
