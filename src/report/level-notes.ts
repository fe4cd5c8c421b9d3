import { LEVEL_UNITS } from "../load/level-units.ts";
import { clientLagOf, explainLag, reportedTimes } from "../measure/client-lag.ts";
import { describeRemedy, explainInstability } from "../measure/instability.ts";
import { saturationReason, stabilizingLatencyNs } from "../measure/metrics.ts";
import { explainShortfall } from "../measure/rate-shortfall.ts";
import type { Plan } from "../plan/plan.ts";
import { formatDurationNs } from "../plan/units.ts";
import { planOfPhase } from "../registry/load-modes.ts";
import { tokensPlanOf } from "../registry/mix.ts";
import { throughputUnitOf } from "../registry/service-kinds.ts";
import type { LevelResult, PreparedRun } from "../result/run-result.ts";
import { describeLoadNotes } from "./load-notes.ts";
import { describeOutcome } from "./rampart/level-cells.ts";
import { askedRate, scheduledRate } from "./scheduled-rate.ts";

/** A note in one sentence or several, each without its full stop. The first says what is doubtful, the next ones why. */
export type LevelNote = readonly string[];

/**
 * Returns what a reader must know before trusting the numbers of a level, for all of Rampart's own reports; mostly empty.
 * @param whole the plan of the run
 * @param prepared undefined when the run could not begin, which has no schedule to compare with
 */
export function describeLevelNotes(whole: Plan, prepared: PreparedRun | undefined, result: LevelResult): LevelNote[] {
  const plan = planOfPhase(whole, result.phase?.index);
  const { window, level, instability, unit, tokens, repeats } = result;
  const isStreamed = tokensPlanOf(whole)?.isStreamed === true;
  const lag = explainLag(clientLagOf(window), reportedTimes(window, tokens, isStreamed));
  const reason = saturationReason(window);
  // The lag says more: what a busy client does to the times.
  const client = lag ?? (reason && `the client may have been the limit, not the server: ${reason}`);
  const notes: LevelNote[] = [];
  if (instability !== undefined) {
    const throughputUnit = throughputUnitOf(whole.target);
    const { moved, cause, remedy } = explainInstability(instability, window, askedRate(plan, level), throughputUnit);
    notes.push([`not stable: ${moved}`, `${cause}. ${describeRemedy(remedy, plan.measurement.mode)}`]);
  }
  if (repeats !== undefined) notes.push([describeRepeats(whole, repeats)]);
  if (result.isLatencyUnstable)
    notes.push(["only throughput is stable, which is enough for asynchronous requests; latency is not"]);
  if (LEVEL_UNITS[unit].isScheduled && prepared !== undefined) {
    const shortfall = explainShortfall(window, scheduledRate({ ...prepared, plan }, level));
    // The delivered load has the rates.
    if (shortfall !== undefined) {
      const { late, cause, bound } = shortfall;
      const why = bound === "client" && client !== undefined ? [] : [cause];
      const note = [...(late === undefined ? [] : [`${late}: look at "from due time"`]), ...why];
      if (note.length > 0) notes.push(note);
    }
  }
  notes.push(...describeLoadNotes(plan, result).map((text) => [text]));
  if (client !== undefined) notes.push([client]);
  return notes;
}

/** Describes the results of a level's other measurements, by the latency that is compared with the limit. */
function describeRepeats({ measurement }: Plan, repeats: readonly LevelResult[]): string {
  const others = repeats.map((repeat) => {
    const latencyNs = stabilizingLatencyNs(repeat.window, measurement.percentile);
    const outcome = repeat.outcome === "measured" ? "" : ` (${describeOutcome(repeat)})`;
    return `${repeat.window.requestCount === 0 ? "nothing" : formatDurationNs(latencyNs)}${outcome}`;
  });
  return `measured ${repeats.length + 1} times, as a latency limit ends the run here; the others: ${others.join(", ")}`;
}
