import * as v from "valibot";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { scaleInterval, UNKNOWN } from "../../../measure/intervals/certainty.ts";
import { ratioBounds } from "../../../measure/intervals/ratio-interval.ts";
import { reportedMetrics } from "../../../measure/metrics/catalogue.ts";
import { nameMetric, parseStatistic } from "../../../measure/metrics/metric-names.ts";
import type { MetricPlan } from "../../../plan/assertions.ts";
import { defined } from "../../../plan/objects.ts";
import { describeUsers } from "../../../registry/level-names.ts";
import { groupSchema, levelSchema, type MeasuredJson } from "../../schema/level.ts";
import type { ExtractedJson, SingleMetricJson, SpreadJson } from "../../schema/metrics.ts";
import { readStatistic, type StatisticName, scaleOf } from "../../schema/read-metrics.ts";
import { findMaxSchema, type NoteJson, noteSchema, REPORT_VERSION, runSchema } from "../../schema/report-schema.ts";
import { listFacts } from "./foreign-metrics.ts";
import {
  describeLoad,
  type MeasuredLevel,
  type MeasuredRun,
  type MeasuredValue,
  otherVersion,
  parseOwn,
  type RunFormat,
  withBounds,
} from "./measured-run.ts";

/** Rampart's JSON: one run, or the `runs` of a repeated plan. The fields that are read are picked from the schema of what is written. */

type Part = Pick<MeasuredJson, "metrics" | "extracted" | "derived">;
const PART = ["metrics", "extracted", "derived"] as const;

const groups = v.optional(v.array(v.pick(groupSchema, ["tags", ...PART])), []);
const levelPart = v.object({
  ...v.pick(levelSchema, ["unit", "level", "phase", ...PART]).entries,
  ...{ tokens: v.optional(v.unknown()), groups, combinations: groups },
});
type Level = v.InferOutput<typeof levelPart>;

const found = v.pick(findMaxSchema, ["highest", "isResolved"]);
const runPart = v.object({
  ...v.pick(runSchema, ["startedAt", "isPartial"]).entries,
  ...{ findMax: v.optional(found), levels: v.array(levelPart) },
});

const head = v.object({
  model: v.object({ name: v.string(), version: v.string() }),
  parameters: v.optional(v.unknown()),
  plan: v.unknown(),
  runs: v.optional(v.array(v.unknown())),
  notes: v.array(v.pick(noteSchema, ["code", "severity", "text"])),
});

/** Keys of a plan that do not affect the measurement. */
const NO_FACTS = new Set(["version", "name", "assertions", "outputs", "repeat", "parameters"]);

/** Rampart's JSON report. */
export const rampartJson: RunFormat = {
  name: "Rampart's JSON",
  detectDocument: (document) => "version" in document && ("levels" in document || "runs" in document),
  read: (file) => {
    const { path } = file;
    const document = file.readDocument();
    const version = document?.["version"];
    if (version !== REPORT_VERSION) throw otherVersion(path, version, REPORT_VERSION);
    const { model, parameters, plan, runs: several, notes } = parseOwn(head, document, path);
    const runs =
      several === undefined
        ? [parseOwn(runPart, document, path)]
        : parseOwn(v.object({ runs: v.array(runPart) }), document, path).runs;
    const facts = new Map([
      ["model", `${model.name}${model.version === "" ? "" : ` version ${model.version}`}`],
      ...listFacts({ parameters }),
      ...listFacts(plan, NO_FACTS),
    ]);
    return runs.map(
      ({ startedAt, isPartial, levels, findMax }, index): MeasuredRun => ({
        source: several === undefined ? path : `${path}, run ${index + 1}`,
        ...{ format: "Rampart's JSON", startedAt, isPartial, facts },
        levels: [...(findMax === undefined ? [] : [readFindMax(findMax)]), ...levels.flatMap(readLevel)],
        ...(index === 0 ? { notes: warningsOf(notes) } : {}),
      }),
    );
  },
};

/** Reads the result of a search for the highest load as a separate level. An uncertain result has no value, as in the means of a report. */
function readFindMax({ highest, isResolved }: v.InferOutput<typeof found>): MeasuredLevel {
  return {
    label: "search for the highest load",
    values: new Map(highest === null || !isResolved ? [] : [["highestLoad", { value: highest }]]),
    notes: [
      ...(highest === null ? ["no load kept the limits"] : []),
      ...(isResolved ? [] : ["the highest load is not resolved"]),
    ],
  };
}

/** Returns the warnings of a report, except those about its samples, because a comparison reports its needs itself. */
function warningsOf(notes: readonly Pick<NoteJson, "code" | "severity" | "text">[]): string[] {
  return notes.flatMap(({ code, severity, text }) => (severity === "detail" || code === "short-sample" ? [] : [text]));
}

/** Reads a level, and the groups of its requests as separate levels. */
function readLevel(level: Level): MeasuredLevel[] {
  const { unit, phase, groups, combinations, tokens } = level;
  const place = phase === undefined ? "" : `phase ${phase.index + 1}, ${phase.name}, `;
  const label = `${place}${describeLoad(unit, level.level)}`;
  const name = tokens === undefined || LEVEL_UNITS[unit].isScheduled ? label : `${place}${describeUsers(level.level)}`;
  const whole = { label, name, values: readPart(level) };
  const parts = [...groups, ...combinations].map((group) => {
    const tags = Object.entries(group.tags).map(([name, value]) => `${name} ${value === null ? "(none)" : value}`);
    const ofTags = `, ${tags.join(", ")}`;
    return { label: `${label}${ofTags}`, name: `${name}${ofTags}`, values: readPart(group) };
  });
  return [whole, ...parts];
}

/** Maximum number of different texts of an extracted value whose shares are compared. */
const MOST_SHARES = 8;

function readPart({ metrics, extracted = {}, derived = {} }: Part): Map<string, MeasuredValue> {
  const values = new Map<string, MeasuredValue>();
  for (const { key, name } of reportedMetrics()) {
    const found = metrics[name];
    if (found === undefined) continue;
    if ("value" in found) values.set(key, readSingle(found, scaleOf(key)));
    else putStatistics(values, { key }, found, scaleOf(key));
  }
  for (const [name, { numbers, unit, better }] of Object.entries(extracted))
    if (numbers !== undefined) putStatistics(values, defined({ key: "extracted", name, unit, better }), numbers, asIs);
  for (const [name, found] of Object.entries(extracted)) putShares(values, name, found);
  for (const [name, { value, unit, better }] of Object.entries(derived))
    if (value !== undefined)
      values.set(nameMetric({ key: "derived", name }), { value, custom: defined({ unit, better }) });
  return values;
}

/** Adds the shares of the texts of an extracted value, if there are few. */
function putShares(values: Map<string, MeasuredValue>, name: string, found: ExtractedJson[string]): void {
  const { texts = {}, otherTexts = 0, missing, numbers } = found;
  const all = Object.entries(texts);
  if (all.length > MOST_SHARES) return;
  const total = all.reduce((sum, [, count]) => sum + count, otherTexts + missing + (numbers?.count ?? 0));
  for (const [text, count] of all)
    values.set(nameMetric({ key: "extractedShare", name, text }), {
      value: count / total,
      ...ratioBounds(count, total),
      total,
    });
}

const asIs: Scale = (value) => value;

function readSingle({ value, low, high, count, total = 0 }: SingleMetricJson, scale: Scale): MeasuredValue {
  // Shares of several runs are compared by Wilson's interval too.
  if (count !== undefined && total > 0) return { value, ...ratioBounds(count, total), total };
  const ends = scaleInterval({ low: low ?? null, high: high ?? null }, scale);
  return { ...withBounds(scale(value), ends.low, ends.high), ...(low === null || high === null ? MARKED : {}) };
}

/** An exact value has no ends; an uncertain one has null ends. */
const MARKED = { isUncertain: true } as const;

type Scale = (value: number) => number;

/** Adds the statistics of a metric. A percentile of too few samples has no interval. */
function putStatistics(values: Map<string, MeasuredValue>, metric: MetricPlan, found: SpreadJson, scale: Scale): void {
  for (const name of Object.keys(found)) {
    const statistic = parseStatistic(name);
    const read = statistic === undefined ? undefined : readStatistic(found, name as StatisticName, scale);
    if (statistic === undefined || read === undefined) continue;
    const isMarked = read.isReliable === false;
    const { low, high } = isMarked ? UNKNOWN : read;
    const { unit, better } = metric;
    const custom = unit === undefined && better === undefined ? {} : { custom: defined({ unit, better }) };
    values.set(nameMetric({ ...metric, statistic }), {
      ...withBounds(read.value, low, high),
      ...(isMarked ? MARKED : {}),
      ...custom,
    });
  }
}
