import * as v from "valibot";
import { FAILURE_KINDS } from "../../transport/failure.ts";
import { levelSchema, serverSchema } from "./level.ts";
import { count, type Parts } from "./parts.ts";
import { combinationSchema, phaseEntries, repeatSchema, verdictState } from "./runs.ts";
import { REPORT_VERSION } from "./version.ts";

/**
 * Rampart's JSON report (`--json`). Units are in the names. A later version of Rampart may add fields; `version` changes when a field is
 * removed or means something else.
 */

/** The report as data. */
export type ReportJson = v.InferOutput<ReturnType<typeof createReportSchema>>;

/** A run as data: the whole report of a plan that runs once, or one of `runs`. */
export type RunJson = v.InferOutput<ReturnType<typeof runSchema>>;

/** A level as data. */
export type LevelJson = RunJson["levels"][number];

/** An assertion with its verdict as data. */
export type AssertionJson = ReportJson["assertions"][number];

/** Creates the schema: of a plan that ran once, or that was repeated. @param object builds objects; default: unknown fields are accepted */
export function createReportSchema(object: typeof v.object = v.object) {
  const parts: Parts = { object };
  const head = {
    version: v.literal(REPORT_VERSION),
    name: v.pipe(v.string(), v.description("The scenario's name.")),
    parameters: v.exactOptional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))),
    machine: machineSchema(parts),
    model: object({ name: v.string(), version: v.string() }),
    notes: v.pipe(v.array(noteSchema(parts)), v.description("What a reader should know about the numbers.")),
    plan: v.pipe(v.record(v.string(), v.unknown()), v.description("The complete plan of the run, without secrets.")),
  };
  return v.union([
    object({ ...head, ...runEntries(parts) }),
    object({
      ...head,
      ...timeEntries(),
      repeat: repeatSchema(parts),
      runs: v.array(runSchema(parts)),
      combination: combinationSchema(parts),
      assertions: v.array(assertionSchema(parts)),
    }),
  ]);
}

/** Returns the runs of a report. */
export function runsOf(report: ReportJson): readonly RunJson[] {
  return "runs" in report ? report.runs : [report];
}

/** A note; see `Note` of the report model. */
function noteSchema({ object }: Parts) {
  return object({
    code: v.pipe(v.string(), v.description("Notes of one code say the same kind of thing.")),
    severity: v.pipe(
      v.picklist(["wrong", "caution", "detail"]),
      v.description("wrong: do not use this number; caution: it may be off; detail: good to know."),
    ),
    metric: v.exactOptional(v.string()),
    levels: v.pipe(v.array(v.string()), v.description("Names of the levels; empty: the whole run.")),
    text: v.string(),
  });
}

function timeEntries() {
  return {
    startedAt: v.pipe(v.string(), v.isoTimestamp()),
    durationSec: v.number(),
    isPartial: v.pipe(v.boolean(), v.description("Whether a run ended early.")),
  };
}

function runSchema(parts: Parts) {
  return parts.object(runEntries(parts));
}

/** The machine that measured. */
function machineSchema({ object }: Parts) {
  return object({
    cpu: v.string(),
    cores: v.pipe(count(), v.description("Cores that this process may use.")),
    memoryBytes: count(),
    os: v.string(),
    architecture: v.string(),
    runtime: v.string(),
    rampart: v.string(),
  });
}

/** What can differ between runs of one plan. */
function runEntries(parts: Parts) {
  const { object } = parts;
  const optional = v.exactOptional;
  return {
    ...timeEntries(),
    seed: optional(v.pipe(v.number(), v.description("Seed of all that was drawn. Absent: 0."))),
    error: optional(object({ code: v.string(), message: v.string() })),
    requests: object({
      sent: count(),
      completed: count(),
      failed: count(),
      cancelled: optional(count()),
      resent: optional(count()),
    }),
    warmup: optional(object({ sent: count(), failed: count() })),
    connections: count(),
    servers: optional(v.array(object({ name: v.string(), sent: count(), failed: count() }))),
    failures: v.array(
      object({
        kind: v.picklist(FAILURE_KINDS),
        count: count(),
        example: v.string(),
        status: optional(v.number()),
        isWarmup: optional(v.literal(true)),
        answers: optional(
          v.pipe(
            v.array(object({ reason: v.string(), answer: v.string() })),
            v.description("The first answers that the scenario's check refused."),
          ),
        ),
      }),
    ),
    sessions: optional(
      object({
        sessionCount: count(),
        cutCount: count(),
        unsentCount: count(),
        unreadReason: optional(v.string()),
      }),
    ),
    warnings: optional(v.array(v.string())),
    server: optional(serverSchema(parts)),
    findMax: optional(
      object({
        limits: v.array(v.string()),
        highest: v.nullable(v.number()),
        next: v.nullable(v.number()),
        isResolved: v.boolean(),
      }),
    ),
    ...phaseEntries(parts),
    levels: v.array(levelSchema(parts)),
    assertions: v.array(assertionSchema(parts)),
  };
}

/** An assertion and its verdict. */
function assertionSchema({ object }: Parts) {
  return object({
    text: v.string(),
    state: verdictState(),
    isMet: v.pipe(v.boolean(), v.description("Whether the state is pass.")),
    level: v.exactOptional(v.number()),
    phase: v.exactOptional(v.pipe(count(), v.description("Index of the phase, from 0."))),
    endedRun: v.exactOptional(v.pipe(v.literal(true), v.description("It ended the run early."))),
    low: v.exactOptional(v.nullable(v.number())),
    high: v.exactOptional(v.nullable(v.number())),
    runs: v.exactOptional(count()),
    runsMet: v.exactOptional(v.pipe(count(), v.description("Number of runs that meet it on their own."))),
    measured: v.exactOptional(
      v.pipe(v.number(), v.description("The worst value: nanoseconds, a rate, a count or a ratio.")),
    ),
    reason: v.exactOptional(v.pipe(v.string(), v.description("Why it is unresolved."))),
    limit: v.number(),
  });
}
