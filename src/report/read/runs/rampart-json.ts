import * as v from "valibot";
import { ratioBounds } from "../../../measure/intervals/ratio-bounds.ts";
import { EXTRACTED } from "../../../measure/metrics/metric-names.ts";
import { userError } from "../../../plan/problem.ts";
import { showValue } from "../../../plan/show-value.ts";
import { NS_PER_US } from "../../../plan/units.ts";
import { REPORT_VERSION } from "../../schema/version.ts";
import { listFacts } from "./facts.ts";
import { describeLoad } from "./load-label.ts";
import type { MeasuredLevel, MeasuredRun, MeasuredValue, RunFormat } from "./measured-run.ts";
import { parseDocument } from "./parse-document.ts";
import { putStatistics, withBounds } from "./put-statistics.ts";

/** Rampart's own JSON: one run, or the `runs` of a repeated plan. */

const bound = v.nullish(v.number());

const latencySchema = v.nullish(
  v.object({
    meanUs: v.number(),
    meanLowUs: bound,
    meanHighUs: bound,
    percentiles: v.record(
      v.string(),
      v.object({ us: v.number(), lowUs: bound, highUs: bound, isReliable: v.optional(v.boolean(), true) }),
    ),
  }),
);
const intervalSchema = v.looseObject({ low: bound, high: bound });
const statisticsSchema = v.looseObject({
  mean: v.number(),
  confidence95: v.optional(v.record(v.string(), intervalSchema)),
});
const serverSchema = v.record(v.string(), v.unknown());

const partSchema = v.object({
  requests: v.number(),
  failed: v.number(),
  inferPerSec: v.optional(v.number()),
  inferPerSecLow: v.nullish(v.number()),
  inferPerSecHigh: v.nullish(v.number()),
  errorRatio: v.number(),
  latency: latencySchema,
  scheduledLatency: latencySchema,
  firstResponse: latencySchema,
  responsesPerSec: v.optional(v.number()),
  betweenResponsesMeanUs: v.optional(v.number()),
  sequencesPerSec: v.optional(v.number()),
  server: v.optional(serverSchema),
  tokens: v.optional(
    v.object({ outputTokensPerSec: v.optional(v.number()), metrics: v.record(v.string(), statisticsSchema) }),
  ),
  extracted: v.optional(v.record(v.string(), v.object({ numbers: v.optional(statisticsSchema) }))),
});
type Part = v.InferOutput<typeof partSchema>;

const groupSchema = v.object({ ...partSchema.entries, tags: v.record(v.string(), v.unknown()) });

const levelSchema = v.object({
  ...partSchema.entries,
  unit: v.string(),
  level: v.number(),
  outcome: v.optional(v.string()),
  phase: v.optional(v.object({ index: v.number(), name: v.string() })),
  client: v.optional(v.object({ saturation: v.nullish(v.string()) })),
  load: v.optional(v.object({ isDelivered: v.nullish(v.boolean()) })),
  groups: v.optional(v.array(groupSchema), []),
  combinations: v.optional(v.array(groupSchema), []),
});
type Level = v.InferOutput<typeof levelSchema>;

const findMaxSchema = v.object({ highest: v.nullable(v.number()), isResolved: v.boolean() });

const runSchema = v.object({
  startedAt: v.optional(v.string()),
  findMax: v.optional(findMaxSchema),
  isPartial: v.optional(v.boolean(), false),
  levels: v.array(levelSchema),
});

const documentSchema = v.object({
  model: v.object({ name: v.string(), version: v.string() }),
  parameters: v.optional(v.unknown()),
  plan: v.optional(v.unknown()),
  runs: v.optional(v.array(runSchema)),
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
    const runs = several ?? [parseDocument(runSchema, document, path)];
    const version = model.version === "" ? "" : ` version ${model.version}`;
    const facts = new Map([["model", `${model.name}${version}`], ...listFacts({ parameters }), ...factsOf(plan)]);
    return runs.map(
      ({ startedAt, isPartial, levels, findMax }, index): MeasuredRun => ({
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
  if (version === REPORT_VERSION) return;
  const message = `is a report of version ${showValue(version)}, and this Rampart reads version ${REPORT_VERSION}`;
  throw userError("mismatch", path, message, "Compare it with the Rampart that wrote it.");
}

function factsOf(plan: unknown): Map<string, string> {
  return listFacts(plan, NO_FACTS);
}

/** Reads the result of a search for the highest load as a level of its own. An answer that is not certain is no value, as in the means of a report. */
function readFindMax({ highest, isResolved }: v.InferOutput<typeof findMaxSchema>): MeasuredLevel {
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
    ...(client?.saturation === undefined || client.saturation === null
      ? []
      : [`the client may have been the limit: ${client.saturation}`]),
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
  for (const [name, value] of serverTimes(part.server)) put(name, value);
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

function putLatency(values: Map<string, MeasuredValue>, name: string, latency: Part["latency"]): void {
  if (latency === null || latency === undefined) return;
  const { meanUs, meanLowUs, meanHighUs, percentiles } = latency;
  values.set(`${name}.avg`, withBounds(meanUs, meanLowUs, meanHighUs, NS_PER_US));
  for (const [percentile, { us, lowUs, highUs, isReliable }] of Object.entries(percentiles)) {
    const ends = isReliable ? ([lowUs, highUs] as const) : ([null, null] as const);
    values.set(`${name}.${percentile}`, withBounds(us, ...ends, NS_PER_US));
  }
}

/** The server's times of a level, by metric: sums and counts in its counters. */
const SERVER_TIMES: readonly (readonly [metric: string, counter: string])[] = [
  ["serverQueue", "queue"],
  ["serverComputeInput", "computeInput"],
  ["serverComputeInfer", "computeInfer"],
  ["serverComputeOutput", "computeOutput"],
];

function serverTimes(server: Part["server"]): [metric: string, averageNs: number][] {
  return SERVER_TIMES.flatMap(([metric, counter]): [string, number][] => {
    const [sum, count] = [server?.[`${counter}Ns`], server?.[`${counter}Count`]];
    return typeof sum === "number" && typeof count === "number" && count > 0 ? [[metric, sum / count]] : [];
  });
}
