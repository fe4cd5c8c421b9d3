import { ONLY_ONE } from "../../../plan/problem.ts";
import { familyOf, JSON_METRICS, REQUEST_METRICS } from "../../../report/genai-perf/layout.ts";
import { parseLimit } from "../../../report/genai-perf/limits.ts";
import type { ResponseKind } from "../../../service/openai/response-kind.ts";
import { formatOf } from "../endpoint-formats.ts";
import { hasMadeUpPrompts } from "../input-format.ts";
import { isLoadName, loadOf } from "../loads.ts";
import { sweepValues } from "../options/sweeps.ts";
import { findLoadSweep } from "../points.ts";
import type { RuleSet } from "./rule-set.ts";

/** Conflicts between a sweep and other settings. */

/** Kinds whose requests can contain several texts or images. A batch has no effect on other kinds. */
const BATCHED: readonly ResponseKind[] = ["completions", "embeddings", "nvclip", "rankings", "image-retrieval"];

/** Checks the sweep. */
export function checkSweep(rules: RuleSet): void {
  const types = rules.get("analyze").map(({ type }) => type);
  const refuse = (isBroken: boolean, message: string, hint: string): void =>
    rules.refuse(isBroken, "analyze", message, hint);
  refuse(
    new Set(types.filter(isLoadName)).size > 1,
    "concurrency and request_rate are both the load, and a run has one",
    "Vary one of them.",
  );
  refuse(new Set(types).size < types.length, "a parameter is varied twice", "Name each parameter once.");
  const isMadeUp = hasMadeUpPrompts(rules.input);
  refuse(
    types.includes("input_sequence_length") && !isMadeUp,
    "input_sequence_length is the length of synthetic prompts, and the input file has its own",
    "Leave out --input-file, or vary something else.",
  );
  refuse(
    types.includes("input_sequence_length") && rules.get("rampart.sequence_mix") !== "",
    "input_sequence_length and --sequence-distribution both set the length of prompts",
    ONLY_ONE,
  );
  refuse(
    types.includes("num_dataset_entries") && !isMadeUp,
    "num_dataset_entries counts synthetic prompts, and the input file has its own",
    "Leave out --input-file, or vary something else.",
  );
  refuse(
    types.includes("runtime_batch_size") && !BATCHED.some((kind) => kind === formatOf(rules.endpoint).response),
    `requests of type ${rules.endpoint.type} hold one prompt: there is no batch to vary`,
    "Batches work with completions, embeddings, nvclip, rankings and image_retrieval.",
  );
  checkCounts(rules);
  checkSearch(rules);
}

/** With fewer requests than the load, a level never reaches the load. */
function checkCounts(rules: RuleSet): void {
  const num = rules.get("perf_analyzer.measurement.num");
  const sweep = findLoadSweep(rules.get("analyze"));
  const isCounting = rules.get("perf_analyzer.measurement.mode") === "request_count";
  if (sweep === undefined || !isCounting || num === null) return;
  const most = Math.trunc(sweep.kind === "range" ? sweep.max : Math.max(...sweepValues(sweep)));
  const what = loadOf(sweep.type).title.toLowerCase();
  rules.refuse(
    num < most,
    "perf_analyzer.measurement.num",
    `--request-count can not be less than ${what}, which the sweep takes up to ${most}`,
    `Give ${most} or more, or leave it out: each point then takes twice its ${what}, but at least 10.`,
  );
}

function checkSearch(rules: RuleSet): void {
  const limits = rules.get("rampart.search_limits");
  if (limits === null) return;
  const refuse = (isBroken: boolean, message: string, hint: string): void =>
    rules.refuse(isBroken, "rampart.search_limits", message, hint);
  refuse(
    findLoadSweep(rules.get("analyze")) === undefined,
    "a search needs a load to search",
    "Vary concurrency or request_rate, for example --sweep-type concurrency --sweep-range 1:64.",
  );
  const names = Object.keys(limits);
  refuse(names.length === 0, "there are no limits", "Write for example request_latency.p99:300.");
  const family = familyOf(formatOf(rules.endpoint).response);
  const known = JSON_METRICS[family].map(({ name }): string => name);
  for (const name of names) {
    const limit = parseLimit(name, 0);
    if (typeof limit === "string") {
      refuse(true, limit, "Write for example request_latency.p99:300, or request_latency:300 for the average.");
      continue;
    }
    const { metric } = limit;
    const needsStream = REQUEST_METRICS[family].some((one) => one.name === metric && one.isStreaming);
    refuse(
      !known.includes(metric),
      `responses of type ${rules.endpoint.type} have no ${metric}`,
      "Limit another metric.",
    );
    refuse(needsStream && !rules.get("endpoint.streaming"), `${metric} needs streamed responses`, "Add --streaming.");
  }
}
