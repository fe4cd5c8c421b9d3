import * as v from "valibot";
import { ratioBounds } from "../../../measure/intervals/ratio-interval.ts";
import { userError } from "../../../plan/problem.ts";
import { describeUsers } from "../../../registry/level-names.ts";
import { listFacts, listOtherMetrics, readForeignMetrics } from "./foreign-metrics.ts";
import { describeLoad, type MeasuredValue, parseDocument, type RunFormat } from "./measured-run.ts";

/** AIPerf's `profile_export_aiperf.json`, schema version 1. */

const NAME = "AIPerf's JSON";

const metric = v.looseObject({ avg: v.number() });
const documentSchema = v.looseObject({
  aiperf_version: v.string(),
  request_count: v.optional(metric),
  error_request_count: v.optional(metric),
  was_cancelled: v.optional(v.nullable(v.boolean())),
  is_complete: v.optional(v.nullable(v.boolean())),
  input_config: v.optional(
    v.looseObject({
      models: v.optional(v.looseObject({ items: v.optional(v.array(v.looseObject({ name: v.string() }))) })),
      phases: v.optional(
        v.array(
          v.looseObject({
            type: v.optional(v.string()),
            exclude_from_results: v.optional(v.boolean()),
            concurrency: v.nullish(v.number()),
            rate: v.nullish(v.number()),
            users: v.nullish(v.number()),
          }),
        ),
      ),
    }),
  ),
});
type Config = v.InferOutput<typeof documentSchema>["input_config"];

/** Keys that do not affect the measurement, such as the paths of files. */
const NO_FACTS = new Set([
  ..."models artifacts gpu_telemetry server_metrics network_latency otel mlflow wandb runtime random_seed".split(" "),
]);

/** AIPerf's JSON of one run. */
export const aiperfJson: RunFormat = {
  name: NAME,
  detectDocument: (document) => document["aiperf_version"] !== undefined,
  read: (file) => {
    const { path } = file;
    const document = parseDocument(documentSchema, file.readDocument(), path);
    if (document["request_latency"] === undefined && document["metadata"] !== undefined) {
      const hint = "Give the files of its runs, or their folder profile_runs.";
      throw userError("mismatch", path, "has the means of several runs of AIPerf, but not the runs", hint);
    }
    const config = document.input_config;
    const model = (config?.models?.items ?? []).map(({ name }) => name).join(", ");
    const facts = new Map([...(model === "" ? [] : [["model", model] as const]), ...listFacts(config, NO_FACTS)]);
    const values = readForeignMetrics(document);
    putErrorRate(values, document.request_count?.avg ?? 0, document.error_request_count?.avg ?? 0);
    const isPartial = document.was_cancelled === true || document.is_complete === false;
    const levels = [{ label: labelOf(config), values }];
    const notCompared = listOtherMetrics(document);
    return [{ source: path, format: NAME, isPartial, facts, levels, isSummary: true, notCompared }];
  },
};

/** A run without failures has no metric for them. */
function putErrorRate(values: Map<string, MeasuredValue>, good: number, failed: number): void {
  const total = good + failed;
  if (total > 0) values.set("errorRate", { value: failed / total, ...ratioBounds(failed, total), total });
}

function labelOf(config: Config): string {
  const phases = (config?.phases ?? []).filter((phase) => phase.exclude_from_results !== true);
  const labels = phases.map(({ type, concurrency, rate, users }) => {
    const userCount = typeof users === "number" ? `${describeUsers(users)}, ` : "";
    if (typeof rate === "number") return `${userCount}${describeLoad("request_rate", rate)}`;
    if (typeof concurrency === "number") return describeLoad("concurrency", concurrency);
    return (type ?? "all requests").replaceAll("_", " ");
  });
  return labels.length === 0 ? "all requests" : labels.join(", then ");
}
