import type { Plan } from "../../plan/plan.ts";
import { hasManyLevels } from "./options/measurement.ts";
import { OPTIONS } from "./options/table.ts";

/** From a plan to the command line of perf_analyzer mode that does the same. */

/** The command line, and in one sentence each what it cannot say. */
export interface FlagsFromPlan {
  readonly args: readonly string[];
  readonly notes: readonly string[];
}

/** Writes a plan as flags. An embedded target has none: its address is that of `rampart mock` with its default ports. */
export function toFlags(plan: Plan): FlagsFromPlan {
  const args = OPTIONS.flatMap(({ print }) => print?.(plan) ?? []);
  return { args, notes: findNotes(plan).filter((note) => note !== undefined && note !== false) as string[] };
}

type Note = string | false | undefined;

function findNotes(plan: Plan): Note[] {
  const { measurement, inputs, cancellation, assertions } = plan;
  return [
    ...targetNotes(plan),
    ...loadNotes(plan),
    inputs.kind === "prompts" &&
      "made-up prompts are a scenario's alone: perf_analyzer's flags take a file of payloads",
    "count" in measurement.mode && hasManyLevels(plan.load) && "flags count requests at a single level only",
    "durationMs" in measurement.mode && "flags measure until windows agree, not for a given time",
    (measurement.warmupMs ?? 0) > 0 && "flags warm up by a number of requests, not for a time",
    cancellation !== undefined && "flags do not give up requests",
    assertions.length > 0 && "assertions are a scenario's alone",
  ];
}

function targetNotes({ target }: Plan): Note[] {
  if (!("url" in target)) return [];
  const { tls, protocol, moreUrls = [] } = target;
  const trustsAll = tls.isEnabled && !(tls.verifyPeer && tls.verifyHost);
  return [
    moreUrls.length > 0 && "flags name one server",
    protocol === "grpc" && trustsAll && "accepting any certificate with gRPC is a scenario's alone",
    "apiKeyEnv" in target && `the API key goes into -H: "Authorization: Bearer $${target.apiKeyEnv}"`,
  ];
}

function loadNotes({ load, outputs }: Plan): Note[] {
  const isOtherRate =
    "distribution" in load && (load.distribution === "gamma" || "maxOutstanding" in load || "ramp" in load);
  const values = "levels" in load && load.levels.kind === "list" ? load.levels.values : [];
  return [
    values.length > 1 && `run it for each of the levels ${values.join(", ")}`,
    ("overMs" in load || "rampMs" in load) && "concurrency that changes over time is a scenario's alone",
    isOtherRate &&
      "gamma-distributed gaps, a limit of requests outstanding and a rate that changes are a scenario's alone",
    "part" in load && "a part of a schedule, and another speed, are a scenario's alone",
    "periodResponses" in load &&
      outputs.profileExportFile === "" &&
      "--periodic-concurrency-range needs a --profile-export-file",
  ];
}
