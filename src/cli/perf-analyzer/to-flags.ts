import type { Plan } from "../../plan/plan.ts";
import { KINDS, kindNameOf } from "./kinds/kinds.ts";
import { hasManyLevels } from "./options/measurement.ts";
import { OPTIONS } from "./options/table.ts";

/** The equivalent command line of perf_analyzer mode, and one sentence for each part of the plan that it cannot express. */
export interface FlagsFromPlan {
  readonly args: readonly string[];
  readonly notes: readonly string[];
}

/** Converts a plan to flags. An embedded target has no flag: its address is that of `rampart mock` with its default ports. */
export function toFlags(plan: Plan): FlagsFromPlan {
  const args = OPTIONS.flatMap(({ print }) => print?.(plan) ?? []);
  return { args, notes: findNotes(plan).filter((note) => note !== false) };
}

/** False for no note. */
type Note = string | false;

function findNotes(plan: Plan): Note[] {
  const { measurement, inputs, cancellation, assertions } = plan;
  return [
    ...targetNotes(plan),
    ...(KINDS[kindNameOf(plan) ?? ""]?.notes?.(plan.target) ?? []),
    ...loadNotes(plan),
    "paths" in inputs && 'flags take a JSON file with the paths: {"data": [{"TORCHSERVE_INPUT": ["cat.jpg"]}]}',
    "tokenizer" in inputs && "only a scenario makes up prompts: perf_analyzer's flags take a file of payloads",
    "entries" in inputs && inputs.entries.length > 0 && "the messages go into a file, messages.json here",
    "count" in measurement.mode && hasManyLevels(plan.load) && "flags count requests at a single level only",
    "durationMs" in measurement.mode && "flags measure until windows agree, not for a given time",
    (measurement.warmupMs ?? 0) > 0 && "flags warm up by a number of requests, not for a time",
    cancellation !== undefined && "flags do not cancel requests",
    assertions.length > 0 && "only a scenario has assertions",
  ];
}

function targetNotes({ target }: Plan): Note[] {
  if (!("url" in target)) return [];
  const { tls, protocol, moreUrls = [] } = target;
  const trustsAll = tls.isEnabled && !(tls.verifyPeer && tls.verifyHost);
  return [
    moreUrls.length > 0 && "flags name one server",
    "outputNames" in target && target.outputNames.length > 0 && "only a scenario names the outputs to ask for",
    protocol === "grpc" && trustsAll && "only a scenario accepts any certificate with gRPC",
    "apiKeyEnv" in target && `the API key goes into -H: "Authorization: Bearer $${target.apiKeyEnv}"`,
  ];
}

function loadNotes({ load, outputs }: Plan): Note[] {
  const isOtherRate =
    "distribution" in load && (load.distribution === "gamma" || "maxOutstanding" in load || "ramp" in load);
  const values = "levels" in load && load.levels.kind === "list" ? load.levels.values : [];
  return [
    values.length > 1 && `run it for each of the levels ${values.join(", ")}`,
    ("overMs" in load || "rampMs" in load) && "only a scenario changes concurrency over time",
    isOtherRate && "only a scenario has gamma-distributed gaps, a limit of requests in flight or a rate that changes",
    "part" in load && "only a scenario sends a part of a schedule, or sends it at another speed",
    "periodResponses" in load &&
      outputs.files.profileExport === undefined &&
      "--periodic-concurrency-range needs a --profile-export-file",
  ];
}
