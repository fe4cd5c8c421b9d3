import * as v from "valibot";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { ratioBounds } from "../../../measure/intervals/ratio-bounds.ts";
import { reportedMetrics } from "../../../measure/metrics/catalogue.ts";
import { nameMetric, parseStatistic } from "../../../measure/metrics/metric-names.ts";
import type { MetricPlan } from "../../../plan/assertions.ts";
import { userError } from "../../../plan/problem.ts";
import { showValue } from "../../../plan/show-value.ts";
import { describeUsers } from "../../../registry/level-names.ts";
import { groupSchema, levelSchema } from "../../schema/level.ts";
import type { SingleMetricJson, SpreadJson } from "../../schema/metrics.ts";
import { readStatistic, type StatisticName, scaleOf } from "../../schema/read-metrics.ts";
import { findMaxSchema, runSchema } from "../../schema/report-schema.ts";
import { REPORT_VERSION } from "../../schema/version.ts";
import { listFacts } from "./facts.ts";
import { describeLoad } from "./load-label.ts";
import type { MeasuredLevel, MeasuredRun, MeasuredValue, RunFormat } from "./measured-run.ts";
import { parseDocument } from "./parse-document.ts";
import { withBounds } from "./put-statistics.ts";
import { OLD_VERSIONS, upgradedPart } from "./upgrade-json.ts";

/** Rampart's own JSON: one run, or the `runs` of a repeated plan. */

const parts = { object: v.object };
const level = levelSchema(parts);
const run = runSchema(parts);

/** A metric of any version: one value, or statistics of which this reader takes what it knows. */
const metricSchema = v.union([
  v.object({
    value: v.number(),
    low: v.optional(v.nullable(v.number())),
    high: v.optional(v.nullable(v.number())),
    count: v.optional(v.number()),
    total: v.optional(v.number()),
  }),
  v.looseObject({ confidence95: v.optional(v.record(v.string(), v.unknown())) }),
]);
const metricsEntries = {
  metrics: v.record(v.string(), metricSchema),
  extracted: v.optional(v.record(v.string(), v.object({ numbers: v.optional(v.looseObject({})) }))),
};
type Metrics = Readonly<Record<string, v.InferOutput<typeof metricSchema>>>;

/** What was measured of requests, in any version. */
interface Part {
  readonly metrics: Metrics;
  readonly extracted?: Readonly<Record<string, { readonly numbers?: object | undefined }>> | undefined;
}

const tagsEntries = { tags: groupSchema(parts).entries.tags };

/** Builds the schema of levels. @param partOf makes the one of what requests measured, with other entries */
function createLevelSchema<S extends v.GenericSchema<unknown, Part>>(partOf: (entries: v.ObjectEntries) => S) {
  const ofTags = partOf(tagsEntries);
  return partOf({
    ...v.pick(level, ["unit", "level", "phase"]).entries,
    ...v.partial(v.pick(level, ["outcome"])).entries,
    client: v.optional(v.pick(level.entries.client, ["saturation"])),
    load: v.optional(v.pick(level.entries.load, ["isDelivered"])),
    tokens: v.optional(v.unknown()),
    groups: v.optional(v.array(ofTags), []),
    combinations: v.optional(v.array(ofTags), []),
  }) as unknown as v.GenericSchema<unknown, Level>;
}

type LevelJson = v.InferOutput<typeof level>;
/** A level of any version. */
interface Level extends Part, Pick<LevelJson, "unit" | "level" | "phase">, Partial<Pick<LevelJson, "outcome">> {
  readonly client?: Pick<LevelJson["client"], "saturation">;
  readonly load?: Pick<LevelJson["load"], "isDelivered">;
  readonly tokens?: unknown;
  readonly groups: readonly (Part & { readonly tags: Readonly<Record<string, string | null>> })[];
  readonly combinations: Level["groups"];
}

const answerSchema = v.pick(findMaxSchema(parts), ["highest", "isResolved"]);

function createRunSchema(isOld: boolean) {
  const today = (entries: v.ObjectEntries) => v.object({ ...metricsEntries, ...entries });
  return v.object({
    ...v.partial(v.pick(run, ["startedAt", "isPartial"])).entries,
    findMax: v.optional(answerSchema),
    levels: v.array(createLevelSchema((isOld ? upgradedPart : today) as typeof today)),
  });
}

const documentSchema = v.object({
  model: v.object({ name: v.string(), version: v.string() }),
  parameters: v.optional(v.unknown()),
  plan: v.optional(v.unknown()),
  runs: v.optional(v.array(v.unknown())),
});

/** What a plan has that does not change what is measured. */
const NO_FACTS = new Set(["version", "name", "assertions", "outputs", "repeat", "parameters"]);

/** Rampart's own JSON report. */
export const rampartJson: RunFormat = {
  name: "Rampart's JSON",
  detectDocument: (document) =>
    "version" in document && "plan" in document && ("levels" in document || "runs" in document),
  read: (file) => {
    const { path } = file;
    const document = file.readDocument();
    checkVersion(document?.["version"], path);
    const { model, parameters, plan, runs: several } = parseDocument(documentSchema, document, path);
    const ofRun = createRunSchema(OLD_VERSIONS.includes(document?.["version"]));
    const runs =
      several === undefined
        ? [parseDocument(ofRun, document, path)]
        : parseDocument(v.object({ runs: v.array(ofRun) }), document, path).runs;
    const version = model.version === "" ? "" : ` version ${model.version}`;
    const facts = new Map([["model", `${model.name}${version}`], ...listFacts({ parameters }), ...factsOf(plan)]);
    return runs.map(
      ({ startedAt, isPartial = false, levels, findMax }, index): MeasuredRun => ({
        source: several === undefined ? path : `${path}, run ${index + 1}`,
        format: "Rampart's JSON",
        ...(startedAt && { startedAt }),
        isPartial,
        facts,
        levels: [...(findMax === undefined ? [] : [readFindMax(findMax)]), ...levels.flatMap(readLevel)],
      }),
    );
  },
};

/** @throws UserError for a report of another version of Rampart */
function checkVersion(version: unknown, path: string): void {
  const versions = [...OLD_VERSIONS, REPORT_VERSION];
  if (versions.includes(version)) return;
  const message = `is a report of version ${showValue(version)}, and this Rampart reads versions ${versions.join(", ")}`;
  throw userError("mismatch", path, message, "Compare it with the Rampart that wrote it.");
}

function factsOf(plan: unknown): Map<string, string> {
  return listFacts(plan, NO_FACTS);
}

/** Reads the result of a search for the highest load as a level of its own. An answer that is not certain is no value, as in the means of a report. */
function readFindMax({ highest, isResolved }: v.InferOutput<typeof answerSchema>): MeasuredLevel {
  return {
    label: "search for the highest load",
    values: new Map(highest === null || !isResolved ? [] : [["highestLoad", { value: highest }]]),
    notes: [
      ...(highest === null ? ["no load kept the limits"] : []),
      ...(isResolved ? [] : ["the highest load is not resolved"]),
    ],
  };
}

/** Reads a level, and the groups of its requests as levels of their own. */
function readLevel(level: Level): MeasuredLevel[] {
  const { unit, phase, groups, combinations, tokens } = level;
  const place = phase === undefined ? "" : `phase ${phase.index + 1}, ${phase.name}, `;
  const label = `${place}${describeLoad(unit, level.level)}`;
  const name = tokens === undefined || LEVEL_UNITS[unit].isScheduled ? label : `${place}${describeUsers(level.level)}`;
  const whole = { label, name, values: readPart(level), notes: notesOf(level) };
  const parts = [...groups, ...combinations].map((group) => {
    const tags = Object.entries(group.tags).map(([name, value]) => `${name} ${value === null ? "(none)" : value}`);
    const ofTags = `, ${tags.join(", ")}`;
    return { label: `${label}${ofTags}`, name: `${name}${ofTags}`, values: readPart(group), notes: [] };
  });
  return [whole, ...parts];
}

function notesOf({ outcome, client, load }: Level): string[] {
  return [
    ...(outcome === "unstable" ? ["the level was not stable"] : []),
    ...(load?.isDelivered === false ? ["the load was not delivered in full"] : []),
    ...(typeof client?.saturation !== "string" ? [] : [`the client may have been the limit: ${client.saturation}`]),
  ];
}

function readPart({ metrics, extracted = {} }: Part): Map<string, MeasuredValue> {
  const values = new Map<string, MeasuredValue>();
  for (const { key, name, entry } of reportedMetrics()) {
    const found = metrics[name];
    if (found === undefined) continue;
    if (entry.statistics === undefined) {
      if ("value" in found) values.set(key, readSingle(found as SingleMetricJson, scaleOf(key)));
    } else putStatistics(values, { key }, found, scaleOf(key));
  }
  for (const [name, { numbers }] of Object.entries(extracted))
    if (numbers !== undefined) putStatistics(values, { key: "extracted", name }, numbers, (value) => value);
  return values;
}

function readSingle({ value, low, high, count, total = 0 }: SingleMetricJson, scale: Scale): MeasuredValue {
  // Also those of several runs are compared by Wilson's interval.
  if (count !== undefined && total > 0) return { value, ...ratioBounds(count, total), total };
  const end = (found: number | null | undefined): number | undefined =>
    typeof found === "number" ? scale(found) : undefined;
  return withBounds(scale(value), end(low), end(high));
}

type Scale = (value: number) => number;

/** Adds the statistics of a metric. A percentile of too few samples has no interval. */
function putStatistics(values: Map<string, MeasuredValue>, metric: MetricPlan, found: object, scale: Scale): void {
  for (const statistic of Object.keys(found)) {
    const parsed = parseStatistic(statistic);
    const read =
      parsed === undefined ? undefined : readStatistic(found as SpreadJson, statistic as StatisticName, scale);
    if (parsed === undefined || read === undefined) continue;
    const { value, low, high, isReliable } = read;
    const ends = isReliable === false ? ([null, null] as const) : ([low, high] as const);
    values.set(nameMetric({ ...metric, statistic: parsed }), withBounds(value, ...ends));
  }
}
