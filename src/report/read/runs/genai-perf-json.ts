import * as v from "valibot";
import { listFacts, listOtherMetrics, readForeignMetrics } from "./foreign-metrics.ts";
import { describeLoad, parseDocument, type RunFormat } from "./measured-run.ts";

/** GenAI-Perf's `profile_export_genai_perf.json`, written by GenAI-Perf or by Rampart. */

const NAME = "GenAI-Perf's JSON";

const documentSchema = v.looseObject({
  request_throughput: v.looseObject({ avg: v.number() }),
  request_latency: v.looseObject({ avg: v.number() }),
  input_config: v.optional(
    v.looseObject({
      model_names: v.optional(v.array(v.string())),
      perf_analyzer: v.optional(v.looseObject({ stimulus: v.optional(v.record(v.string(), v.nullable(v.number()))) })),
    }),
  ),
});

/** Keys that do not affect the measurement, such as the paths of files. */
const NO_FACTS = new Set(["model_names", "subcommand", "verbose", "template_filename", "output", "process", "analyze"]);

/** GenAI-Perf's JSON of one run. */
export const genaiPerfJson: RunFormat = {
  name: NAME,
  detectDocument: (document) =>
    document["request_throughput"] !== undefined &&
    document["aiperf_version"] === undefined &&
    document["request_latency"] !== undefined,
  read: (file) => {
    const { path } = file;
    const document = parseDocument(documentSchema, file.readDocument(), path);
    const { input_config: config } = document;
    const [stimulus] = Object.entries(config?.perf_analyzer?.stimulus ?? {}).filter(([, value]) => value !== null);
    const label = stimulus === undefined ? "all requests" : describeLoad(stimulus[0], stimulus[1] ?? 0);
    const model = config?.model_names?.join(", ") ?? "";
    const facts = new Map([...(model === "" ? [] : [["model", model] as const]), ...listFacts(config, NO_FACTS)]);
    return [
      {
        source: path,
        format: NAME,
        isPartial: false,
        facts,
        levels: [{ label, values: readForeignMetrics(document) }],
        isSummary: true,
        notCompared: listOtherMetrics(document),
      },
    ];
  },
};
