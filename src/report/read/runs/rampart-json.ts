import * as v from "valibot";
import { ratioBounds } from "../../../measure/intervals/ratio-bounds.ts";
import type { MeasuredPart } from "../../../measure/metrics/metric.ts";
import { EXTRACTED, listPlans, nameMetric } from "../../../measure/metrics/metric-names.ts";
import { runValue } from "../../../measure/metrics/read-metric.ts";
import { userError } from "../../../plan/problem.ts";
import { showValue } from "../../../plan/show-value.ts";
import { NS_PER_US } from "../../../plan/units.ts";
import { inPlanUnit } from "../../json/values.ts";
import { groupSchema, levelSchema } from "../../schema/level.ts";
import { findMaxSchema, runSchema } from "../../schema/report-schema.ts";
import { REPORT_VERSION } from "../../schema/version.ts";
import { listFacts } from "./facts.ts";
import { describeLoad } from "./load-label.ts";
import type { MeasuredLevel, MeasuredRun, MeasuredValue, RunFormat } from "./measured-run.ts";
import { parseDocument } from "./parse-document.ts";
import { putStatistics, withBounds } from "./put-statistics.ts";

/** Rampart's own JSON: one run, or the `runs` of a repeated plan. */

/** Versions of the report that are read. In all of them, the fields that are picked here are the same. */
const READ_VERSIONS: readonly unknown[] = [1, REPORT_VERSION];

const parts = { object: v.object };
/** Fields that a level may lack, because an older version did not write them. */
const OPTIONAL = [
  "inferPerSec",
  "inferPerSecLow",
  "inferPerSecHigh",
  "latency",
  "scheduledLatency",
  "firstResponse",
  "responsesPerSec",
  "betweenResponsesMeanUs",
  "sequencesPerSec",
  "server",
  "tokens",
  "extracted",
  "values",
] as const;
const group = groupSchema(parts);
const level = levelSchema(parts);
const run = runSchema(parts);

const partSchema = v.object({
  ...v.pick(group, ["requests", "failed", "errorRatio"]).entries,
  ...v.partial(v.pick(group, OPTIONAL)).entries,
});
type Part = v.InferOutput<typeof partSchema>;

const partOfTagsSchema = v.object({ ...partSchema.entries, tags: group.entries.tags });

const readLevelSchema = v.object({
  ...partSchema.entries,
  ...v.pick(level, ["unit", "level", "phase"]).entries,
  ...v.partial(v.pick(level, ["outcome"])).entries,
  client: v.optional(v.pick(level.entries.client, ["saturation"])),
  load: v.optional(v.pick(level.entries.load, ["isDelivered"])),
  groups: v.optional(v.array(partOfTagsSchema), []),
  combinations: v.optional(v.array(partOfTagsSchema), []),
});
type Level = v.InferOutput<typeof readLevelSchema>;

const answerSchema = v.pick(findMaxSchema(parts), ["highest", "isResolved"]);

const readRunSchema = v.object({
  ...v.partial(v.pick(run, ["startedAt", "isPartial"])).entries,
  findMax: v.optional(answerSchema),
  levels: v.array(readLevelSchema),
});

const documentSchema = v.object({
  model: v.object({ name: v.string(), version: v.string() }),
  parameters: v.optional(v.unknown()),
  plan: v.optional(v.unknown()),
  runs: v.optional(v.array(readRunSchema)),
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
    const runs = several ?? [parseDocument(readRunSchema, document, path)];
    const version = model.version === "" ? "" : ` version ${model.version}`;
    const facts = new Map([["model", `${model.name}${version}`], ...listFacts({ parameters }), ...factsOf(plan)]);
    return runs.map(
      ({ startedAt, isPartial = false, levels, findMax }, index): MeasuredRun => ({
        source: several === undefined ? path : `${path}, run ${index + 1}`,
        format: "Rampart's JSON",
        ...(startedAt === undefined ? {} : { startedAt }),
        isPartial,
        facts,
        levels: [...(findMax === undefined ? [] : [readFindMax(findMax)]), ...levels.flatMap(readLevel)],
      }),
    );
  },
};

/** @throws UserError for a report of another version of Rampart */
function checkVersion(version: unknown, path: string): void {
  if (READ_VERSIONS.includes(version)) return;
  const message = `is a report of version ${showValue(version)}, and this Rampart reads versions ${READ_VERSIONS.join(" and ")}`;
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
  const { unit, phase, groups, combinations } = level;
  const load = describeLoad(unit, level.level);
  const label = phase === undefined ? load : `phase ${phase.index + 1}, ${phase.name}, ${load}`;
  const whole = { label, values: readPart(level), notes: notesOf(level) };
  const parts = [...groups, ...combinations].map((group) => {
    const tags = Object.entries(group.tags).map(([name, value]) => `${name} ${value === null ? "(none)" : value}`);
    return { label: `${label}, ${tags.join(", ")}`, values: readPart(group), notes: [] };
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

function readPart(part: Part): Map<string, MeasuredValue> {
  const values = new Map<string, MeasuredValue>();
  const put = (name: string, value: number | undefined, scale = 1): void => {
    if (value !== undefined) values.set(name, { value: value * scale });
  };
  const total = part.requests + part.failed;
  values.set("errorRate", {
    value: part.errorRatio,
    ...(total > 0 ? { ...ratioBounds(part.failed, total), total } : {}),
  });
  if (part.inferPerSec !== undefined)
    values.set("throughput", withBounds(part.inferPerSec, part.inferPerSecLow, part.inferPerSecHigh, 1));
  putLatency(values, "latency", part.latency);
  putLatency(values, "scheduledLatency", part.scheduledLatency);
  putLatency(values, "firstResponse", part.firstResponse);
  put("betweenResponses", part.betweenResponsesMeanUs, NS_PER_US);
  put("responsesPerSec", part.responsesPerSec);
  put("sequencesPerSec", part.sequencesPerSec);
  for (const [name, value] of serverValues(part.server)) values.set(name, value);
  for (const [name, estimate] of Object.entries(part.values ?? {})) {
    const { value, low, high } = inPlanUnit(estimate);
    values.set(name, withBounds(value, low, high, 1));
  }
  const rate = part.tokens?.outputTokensPerSec;
  if (rate !== undefined && rate > 0) put("outputTokensPerSec", rate);
  for (const [name, statistics] of Object.entries(part.tokens?.metrics ?? {})) {
    const isTime = name.endsWith("Us");
    putStatistics(values, isTime ? name.slice(0, -2) : name, statistics, isTime ? NS_PER_US : 1);
  }
  for (const [name, { numbers }] of Object.entries(part.extracted ?? {}))
    if (numbers !== undefined) putStatistics(values, `${EXTRACTED}${name}`, numbers, 1);
  return values;
}

function putLatency(values: Map<string, MeasuredValue>, name: string, latency: Part["latency"] | undefined): void {
  if (latency === null || latency === undefined) return;
  const { meanUs, meanLowUs, meanHighUs, minUs, maxUs, percentiles } = latency;
  values.set(`${name}.avg`, withBounds(meanUs, meanLowUs, meanHighUs, NS_PER_US));
  for (const [statistic, us] of [
    ["min", minUs],
    ["max", maxUs],
  ] as const)
    values.set(`${name}.${statistic}`, { value: us * NS_PER_US });
  for (const [percentile, { us, lowUs, highUs, isReliable }] of Object.entries(percentiles)) {
    const ends = isReliable ? ([lowUs, highUs] as const) : ([null, null] as const);
    values.set(`${name}.${percentile}`, withBounds(us, ...ends, NS_PER_US));
  }
}

/** Returns the metrics of a server's counters. */
function serverValues(server: Part["server"]): (readonly [name: string, value: MeasuredValue])[] {
  const part = { window: { server } } as unknown as MeasuredPart;
  return listPlans(({ needs }) => needs === "statistics").flatMap((metric) => {
    const found = runValue(metric, part, 1);
    if (found === undefined) return [];
    const { value, requests } = found;
    const bounds =
      requests === undefined ? {} : { ...ratioBounds(requests.count, requests.total), total: requests.total };
    return [[nameMetric(metric), { value, ...bounds }] as const];
  });
}
