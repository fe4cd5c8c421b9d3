import * as v from "valibot";
import { FAILURE_KINDS } from "../../transport/failure.ts";
import { capacitySchema, kneeSchema } from "./capacity.ts";
import { LEVEL_UNIT, levelSchema, serverSchema } from "./level.ts";
import { overTimeSchema } from "./over-time.ts";
import { count, described, estimateSchema, valueSchema } from "./parts.ts";
import { combinationSchema, phaseEntries, repeatSchema, verdictState } from "./runs.ts";

/**
 * Rampart's JSON report (`--json`). Names contain units. A later version of Rampart may add fields; `version` changes when a field
 * is removed or its meaning changes.
 */

/** The version of the report. */
export const REPORT_VERSION = 4;

/** The report as data. */
export type ReportJson = v.InferOutput<typeof reportSchema>;

/** A run as data: the whole report of a plan that runs once, or one of `runs`. */
export type RunJson = v.InferOutput<typeof runSchema>;

/** A level as data. */
export type LevelJson = RunJson["levels"][number];

/** A plan that ran once, as data. */
export type SingleJson = Exclude<ReportJson, { runs: unknown }>;

/** A repeated plan as data. */
export type RepeatedJson = Extract<ReportJson, { runs: unknown }>;

/** An assertion with its verdict as data. */
export type AssertionJson = ReportJson["assertions"][number];

/** The verdict on the runs as data. */
export type VerdictJson = ReportJson["verdict"];

/** A note as data. */
export type NoteJson = ReportJson["notes"][number];

/** A reason of the verdict as data. */
export type ReasonJson = VerdictJson["reasons"][number];

/** The result of a search as data. */
export type FindMaxJson = NonNullable<RunJson["findMax"]>;

/** Returns the runs of a report. */
export function runsOf(report: ReportJson): readonly RunJson[] {
  return "runs" in report ? report.runs : [report];
}

/** Schema of a note about numbers. */
export const noteSchema = v.object({
  code: described(v.string(), "Notes of one code say the same kind of thing."),
  severity: described(
    v.picklist(["wrong", "caution", "detail"]),
    "wrong: do not use this number; caution: it may be off; detail: good to know.",
  ),
  metric: v.exactOptional(v.string()),
  levels: described(v.array(v.string()), "Names of the levels; empty: the whole run."),
  text: v.string(),
});

const timeEntries = {
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationSec: v.number(),
  isPartial: described(v.boolean(), "Whether a run ended early."),
};

/** Possible verdicts on runs or a comparison. */
export const VERDICT_NAMES = ["failed", "partial", "unresolved", "passed", "measured"] as const;

/** States of the reasons, most severe first. */
const REASON_ORDER = ["fail", "partial", "unresolved"] as const;

const reason = v.object({
  state: v.picklist(REASON_ORDER),
  code: described(v.string(), "What kind of reason it is: assertion, search, unstable and so on."),
  text: v.string(),
});

const reasonsSchema = described(v.array(reason), "Why it did not pass, the worst first.");

/** Sorts reasons by severity. */
export function worstFirst<R extends Pick<ReasonJson, "state">>(reasons: readonly R[]): R[] {
  return REASON_ORDER.flatMap((state) => reasons.filter((reason) => reason.state === state));
}

/** Returns the schema entries of a verdict. @param of the verdicts of which it is the worst; absent: it is that of one run or comparison */
export function verdictEntries(of?: string) {
  const name = v.picklist(VERDICT_NAMES);
  return {
    name: of === undefined ? name : described(name, `The worst of all ${of}.`),
    headline: described(v.string(), "One sentence that says why, without a full stop."),
    reasons: reasonsSchema,
  };
}

const verdictSchema = v.object({
  ...verdictEntries(),
  exitCode: v.exactOptional(
    described(count, "Of Rampart's own commands. Absent in the modes of perf_analyzer and genai-perf."),
  ),
});

const machineSchema = v.object({
  cpu: v.string(),
  cores: described(count, "Cores that this process may use."),
  memoryBytes: count,
  os: v.string(),
  architecture: v.string(),
  runtime: v.string(),
  rampart: v.string(),
});

const load = v.nullable(v.number());

/** Schema of the result of a search. */
export const findMaxSchema = v.object({
  limits: v.array(v.string()),
  unit: LEVEL_UNIT,
  highest: described(load, "The highest load that certainly keeps the limits; null: none is known to."),
  next: described(
    load,
    "The lowest load above it that breaks one; null: none is known to, and `highest` is a lower bound.",
  ),
  isResolved: described(
    v.boolean(),
    "False when loads between the two are undecided, and the two are further apart than `within` of the scenario.",
  ),
});

const assertionSchema = v.object({
  text: v.string(),
  state: verdictState,
  isMet: described(v.boolean(), "Whether the state is pass."),
  level: v.exactOptional(v.number()),
  phase: v.exactOptional(described(count, "Index of the phase, from 0.")),
  endedRun: v.exactOptional(described(v.literal(true), "It ended the run early.")),
  runs: v.exactOptional(count),
  runsMet: v.exactOptional(described(count, "Number of runs that meet it on their own.")),
  measured: v.exactOptional(described(estimateSchema, "The worst value, over several runs with its interval.")),
  reason: v.exactOptional(described(v.string(), "Why it is unresolved.")),
  measuredText: described(
    v.string(),
    "The worst value with its unit, where it was measured, and why it is unresolved.",
  ),
  limit: valueSchema,
  limitText: described(v.string(), "The limit with its unit."),
});

const runEntries = {
  ...timeEntries,
  seed: v.exactOptional(described(v.number(), "Seed of all that was drawn. Absent: 0.")),
  error: v.exactOptional(v.object({ code: v.string(), message: v.string() })),
  requests: v.object({
    sent: count,
    completed: count,
    failed: count,
    cancelled: v.exactOptional(count),
    resent: v.exactOptional(count),
  }),
  warmup: v.exactOptional(v.object({ sent: count, failed: count })),
  connections: count,
  receivedBytes: v.exactOptional(
    described(count, "Bytes of HTTP responses in the whole run, as they came, without what TLS adds."),
  ),
  responses: v.exactOptional(
    described(v.record(v.string(), count), "Complete HTTP responses in the whole run, by status."),
  ),
  servers: v.exactOptional(v.array(v.object({ name: v.string(), sent: count, failed: count }))),
  hosts: v.exactOptional(
    described(
      v.array(
        v.object({
          name: v.string(),
          ...{ workerCount: count, sent: count, completed: count, failed: count },
          ...{
            clockOffsetMs: v.exactOptional(v.number()),
            clockErrorMs: v.number(),
            clockDriftMs: v.number(),
            lateMs: v.number(),
          },
          lost: v.exactOptional(
            v.object({
              afterSec: v.number(),
              loadRatio: v.number(),
              reason: v.string(),
              inNoLevelCount: v.exactOptional(count),
            }),
          ),
        }),
      ),
      "Agents that sent: how far their clocks were ahead, how well that was known, how far they moved, and how late a message came at most.",
    ),
  ),
  failures: v.array(
    v.object({
      kind: v.picklist(FAILURE_KINDS),
      count: count,
      example: v.string(),
      status: v.exactOptional(v.number()),
      isWarmup: v.exactOptional(v.literal(true)),
      responses: v.exactOptional(
        described(
          v.array(v.object({ reason: v.string(), response: v.string() })),
          "The first responses that the scenario's check refused.",
        ),
      ),
    }),
  ),
  sessions: v.exactOptional(
    v.object({
      sessionCount: described(count, "Sessions with at least one turn that was sent."),
      isChain: v.exactOptional(described(v.literal(true), "Each session is a chain of requests.")),
      cutCount: count,
      unsentCount: count,
      unreadReason: v.exactOptional(v.string()),
    }),
  ),
  overTime: v.exactOptional(overTimeSchema),
  server: v.exactOptional(serverSchema),
  findMax: v.exactOptional(findMaxSchema),
  knee: v.exactOptional(described(kneeSchema, "Of a load that ends at the knee, and of other levels that reach it.")),
  capacity: v.exactOptional(described(capacitySchema, "Of a plan with capacity.")),
  ...phaseEntries,
  levels: v.array(levelSchema),
  assertions: v.array(assertionSchema),
};

/** Schema of a run. */
export const runSchema = v.object(runEntries);

const head = {
  version: v.literal(REPORT_VERSION),
  name: described(v.string(), "The scenario's name."),
  verdict: verdictSchema,
  parameters: v.exactOptional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))),
  machine: machineSchema,
  model: v.object({ name: v.string(), version: v.string() }),
  notes: described(v.array(noteSchema), "What a reader should know about the numbers."),
  plan: described(v.record(v.string(), v.unknown()), "The complete plan of the run, without secrets."),
};

/** Schema of the report on a plan that ran once, or that was repeated. Unknown fields are accepted. */
export const reportSchema = v.union([
  v.object({ ...head, ...runEntries }),
  v.object({
    ...head,
    ...timeEntries,
    repeat: repeatSchema,
    runs: v.array(runSchema),
    combination: combinationSchema,
    assertions: v.array(assertionSchema),
  }),
]);
