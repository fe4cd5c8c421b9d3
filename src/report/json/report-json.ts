import type { Change, PhaseVerdict } from "../../measure/phase-verdicts.ts";
import type { RunsVerdict, Verdict } from "../../measure/verdicts.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { withoutSecrets } from "../../plan/secrets.ts";
import { epochNsToIsoTime, nsToMs, nsToSec, nsToUs } from "../../plan/units.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
import { measuredLevels } from "../../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, PhasesResult, RunResult } from "../../result/run-result.ts";
import { describeMachine } from "../../runtime/machine.ts";
import { VERSION } from "../../runtime/this-program.ts";
import { describeAssertion } from "../assertion-text.ts";
import { judgeAssertions, judgeRepeated, judgeRun, verdictsOfPhases } from "../judge-run.ts";
import { makeNotes, type NoteOptions } from "../notes/make-notes.ts";
import type { OverTimeJson } from "../schema/over-time.ts";
import {
  type AssertionJson,
  REPORT_VERSION,
  type RepeatedJson,
  type RunJson,
  type SingleJson,
} from "../schema/report-schema.ts";
import type { CheckJson, PhasesJson } from "../schema/runs.ts";
import { toCapacityJson, toKneeJson } from "./capacity.ts";
import { toDeliveryJson, toFindMaxJson, toLevelJson, toTimelineJson } from "./level.ts";
import { toEstimateJson, toValueJson } from "./metrics.ts";
import { toCombinationJson } from "./over-runs.ts";

/** The JSON of runs, from which all reports are made. Latencies are also included as HDR histograms, which can be merged. */

/** Data of a report in addition to the result. */
export interface ReportOptions extends NoteOptions {
  /** For each run. Absent: the report has no charts over time. */
  readonly overTime?: readonly OverTimeJson[];
}

/** Converts the report to JSON. */
export function toReportJson(plan: Plan, result: RunResult, options: ReportOptions = {}): SingleJson {
  return {
    ...toHeadJson(plan, result, result, options),
    ...toRunJson(plan, result, options.overTime?.[0]),
    plan: { ...withoutSecrets(plan) },
  };
}

/**
 * Converts the report of a repeated plan to JSON. `runs` has an object for each run, with the same fields as the report of one run,
 * except `version`, `name`, `model` and `plan`, which are outside. So a reader of runs reads `document.runs ?? [document]`.
 *
 * `combination` has the combined results: `runs`, the number of runs that ended as planned and so count, and `levels`. At each
 * level, the `metrics` (`throughputPerSec`, `latencyUs.p99` and so on) are the mean over the values of the runs with its 95 %
 * interval (`low`, `high`), the `deviation` between runs, the deviation within runs, and their ratio; see `OverRuns`. `assertions`
 * judge these means. A search has `findMax`: the highest load over the runs with a certain result, the measurements at it, and the
 * runs without a result.
 */
export function toRepeatedJson(plan: Plan, repeated: RepeatedResult, options: ReportOptions = {}): RepeatedJson {
  const { runs, precision } = repeated;
  const [first] = runs as [RunResult];
  const complete = completeRuns(repeated);
  const { atLeast, atMost, until } = plan.repeat ?? { atLeast: runs.length, atMost: runs.length };
  return {
    ...toHeadJson(plan, first, repeated, options),
    startedAt: epochNsToIsoTime(first.startEpochNs),
    durationSec: nsToSec(runs.reduce((sum, { durationNs }) => sum + durationNs, 0)),
    isPartial: complete.length < runs.length,
    repeat: defined({
      atLeast,
      atMost,
      until:
        until &&
        defined({
          metric: { ...until.metric },
          ratio: until.ratio,
          where: until.where && { ...until.where },
          phase: until.phase,
          reachedRatio: precision?.ratio ?? null,
          isReached: precision?.isReached === true,
        }),
    }),
    runs: runs.map((run, index) => toRunJson(plan, run, options.overTime?.[index])),
    combination: toCombinationJson(plan, repeated),
    assertions: judgeRepeated(plan, repeated).map((verdict) => toAssertionJson(plan, verdict, repeated.runs)),
    plan: { ...withoutSecrets(plan) },
  };
}

type HeadJson = Pick<SingleJson, "version" | "name" | "verdict" | "parameters" | "machine" | "model" | "notes">;

function toHeadJson(
  plan: Plan,
  { prepared }: RunResult,
  whole: RunResult | RepeatedResult,
  options: NoteOptions,
): HeadJson {
  const { name, parameters, outputs } = plan;
  const runs = "runs" in whole ? whole.runs : [whole];
  const { reasons, exitCode, ...verdict } = judgeRun(plan, whole);
  const { model } = prepared.service;
  const values = Object.entries(parameters ?? {}).map(([key, { value }]) => [key, value] as const);
  return {
    version: REPORT_VERSION,
    name,
    verdict: { ...verdict, reasons: [...reasons], ...(outputs.style === "rampart" ? { exitCode } : {}) },
    ...(parameters && { parameters: Object.fromEntries(values) }),
    machine: { ...describeMachine(), rampart: VERSION },
    model: { name: model.name, version: model.version },
    notes: makeNotes(plan, runs, options),
  };
}

/** Converts one run: all data that can differ between the runs of a plan. */
function toRunJson(plan: Plan, result: RunResult, overTime?: OverTimeJson): RunJson {
  const levels = measuredLevels(result);
  const { seed = 0 } = result.prepared.plan;
  const { error, warmup, received, phased, findMax } = result;
  return defined({
    startedAt: epochNsToIsoTime(result.startEpochNs),
    seed: plan.repeat === undefined && seed === 0 ? undefined : seed,
    durationSec: nsToSec(result.durationNs),
    isPartial: result.isInterrupted || error !== undefined,
    error: error && { code: error.code, message: error.message },
    requests: defined({
      sent: result.sentCount,
      completed: result.completedCount,
      failed: result.failedCount,
      cancelled: result.cancelledCount || undefined,
      resent: result.resendCount || undefined,
    }),
    warmup: warmup && { sent: warmup.sentCount, failed: warmup.failedCount },
    connections: result.connectionCount,
    receivedBytes: received?.bytes,
    responses: received?.statuses,
    servers: result.servers?.map(({ name, sentCount, failedCount }) => ({
      ...{ name, sent: sentCount, failed: failedCount },
    })),
    hosts: result.hosts?.map(({ lost, ...host }) => ({
      ...{ name: host.name, workerCount: host.workerCount, sent: host.sentCount, completed: host.completedCount },
      ...{
        failed: host.failedCount,
        clockOffsetMs: nsToMs(host.clockOffsetNs),
        clockErrorMs: nsToMs(host.clockErrorNs),
      },
      ...{ clockDriftMs: nsToMs(host.clockDriftNs), lateMs: nsToMs(host.lateNs) },
      ...(lost === undefined
        ? {}
        : {
            lost: {
              ...{ afterSec: nsToSec(lost.afterNs), loadRatio: lost.loadRatio, reason: lost.reason },
              inNoLevelCount: lost.uncountedCount,
            },
          }),
    })),
    failures: result.failures.map(({ kind, count, example, status, isWarmup, responses }) =>
      defined({ kind, count, example, status, isWarmup, responses: responses && [...responses] }),
    ),
    sessions: result.sessions && defined({ ...result.sessions, isChain: inputKindOf(plan.inputs).hasChains }),
    overTime,
    server: result.server,
    ...(phased === undefined ? {} : toPhasesJson(plan, phased, levels)),
    ...toAnswersJson(plan, levels, findMax),
    assertions: judgeAssertions(plan, result).map((verdict) => toAssertionJson(plan, verdict, [result])),
  });
}

function toAnswersJson(plan: Plan, measured: readonly LevelResult[], found: RunResult["findMax"]) {
  const findMax = found && toFindMaxJson(plan, found);
  const levels = measured.map((level) => toLevelJson(plan, level));
  return { findMax, knee: toKneeJson(plan, levels), capacity: toCapacityJson(plan, { levels, findMax }), levels };
}

function toAssertionJson(plan: Plan, verdict: Verdict | RunsVerdict, runs: readonly RunResult[]): AssertionJson {
  const { text, state, level, phaseIndex, measured, reason, endedRun, assertion } = verdict;
  const ends = "runCount" in verdict ? { low: verdict.low, high: verdict.high } : {};
  const inWords = describeAssertion(plan, verdict, runs);
  return defined({
    ...{ text, state, isMet: state === "pass", level, phase: phaseIndex, endedRun },
    ...("runCount" in verdict ? { runs: verdict.runCount, runsMet: verdict.metCount } : {}),
    measured: measured === undefined ? undefined : toEstimateJson(assertion.metric, { ...ends, value: measured }),
    reason,
    measuredText: inWords.measured,
    limit: toValueJson(assertion.metric, assertion.limit),
    limitText: inWords.limit,
  });
}

function levelsOf(levels: readonly LevelResult[], index: number): LevelResult[] {
  return levels.filter(({ phase, window }) => phase?.index === index && window.durationNs > 0);
}

/** Converts the phases and the timeline to JSON. @param levels all levels of the run */
function toPhasesJson(
  plan: Plan,
  { phases, after, timeline }: PhasesResult,
  levels: readonly LevelResult[],
): PhasesJson {
  const verdicts = verdictsOfPhases(plan, levels);
  return {
    phases: phases.map(({ index, label, isWarmup, startNs, endNs, tally, openBeforeCount, openAfterCount }) => ({
      name: label,
      ...(isWarmup ? { isWarmup } : {}),
      startSec: nsToSec(startNs),
      endSec: nsToSec(endNs),
      inFlightAtStart: openBeforeCount,
      inFlightAtEnd: openAfterCount,
      sent: tally.sentCount,
      completed: tally.completedCount,
      failed: tally.failedCount,
      cancelled: tally.cancelledCount,
      load: levelsOf(levels, index).map((level) => ({ level: level.level, ...toDeliveryJson(plan, level) })),
      checks: verdicts.filter(({ phaseIndex }) => phaseIndex === index).map(toVerdictJson),
    })),
    afterPhases: { completed: after.completedCount, failed: after.failedCount, cancelled: after.cancelledCount },
    timeline: toTimelineJson(timeline),
  };
}

function toVerdictJson({ text, state, measured, drift, recovery }: PhaseVerdict): CheckJson {
  return {
    ...{ text, state, isMet: state === "pass", measured },
    ...(drift && { latencyChange: toChangeJson(drift.latency), throughputChange: toChangeJson(drift.throughput) }),
    ...(recovery && {
      recoverySec: recovery.tookNs === undefined ? null : nsToSec(recovery.tookNs),
      baseMedianUs: nsToUs(recovery.baseNs),
      intervalSec: nsToSec(recovery.intervalNs),
    }),
  };
}

function toChangeJson({ ratio, lowRatio, highRatio }: Change): NonNullable<CheckJson["latencyChange"]> {
  return { ratio, lowRatio, highRatio };
}
