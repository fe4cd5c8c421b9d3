import { countLevels, describeLevels, stepsOf } from "../../load/levels.ts";
import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
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

/** A note; false: none. */
type Note = string | false;

function findNotes(plan: Plan): Note[] {
  const { measurement, inputs, cancellation, assertions } = plan;
  return [
    ...targetNotes(plan),
    ...(KINDS[kindNameOf(plan) ?? ""]?.notes?.(plan.target) ?? []),
    ...loadNotes(plan),
    inputKindOf(inputs).perfAnalyzer?.(inputs).note ?? false,
    "count" in measurement.mode && hasManyLevels(plan.load) && "flags count requests at a single level only",
    "durationMs" in measurement.mode && "flags measure until windows agree, not for a given time",
    (measurement.warmupMs ?? 0) > 0 && "flags warm up by a number of requests, not for a time",
    cancellation !== undefined && "flags do not cancel requests",
    assertions.length > 0 && "only a scenario has assertions",
  ];
}

function targetNotes({ target }: Plan): Note[] {
  if (fieldOf(target, "url") === undefined) return [];
  const tls = fieldOf(target, "tls");
  const apiKeyEnv = fieldOf(target, "apiKeyEnv");
  const trustsAll = tls?.isEnabled === true && !(tls.verifyPeer && tls.verifyHost);
  return [
    (fieldOf(target, "moreUrls") ?? []).length > 0 && "flags name one server",
    (fieldOf(target, "outputNames") ?? []).length > 0 && "only a scenario names the outputs to ask for",
    target.protocol === "grpc" && trustsAll && "only a scenario accepts any certificate with gRPC",
    apiKeyEnv !== undefined && `the API key goes into -H: "Authorization: Bearer $${apiKeyEnv}"`,
  ];
}

function loadNotes({ load, outputs }: Plan): Note[] {
  const distribution = fieldOf(load, "distribution");
  const isLimited = fieldOf(load, "maxOutstanding") !== undefined || fieldOf(load, "ramp") !== undefined;
  const isOtherRate = distribution === "gamma" || (distribution !== undefined && isLimited);
  const changesConcurrency = (fieldOf(load, "overMs") ?? fieldOf(load, "rampMs")) !== undefined;
  const levels = fieldOf(load, "levels");
  const isList = levels !== undefined && stepsOf(levels) === undefined && (countLevels(levels) ?? 0) > 1;
  return [
    isList && `run it for each of the levels ${describeLevels(levels)}`,
    changesConcurrency && "only a scenario changes concurrency over time",
    isOtherRate && "only a scenario has gamma-distributed gaps, a limit of requests in flight or a rate that changes",
    fieldOf(load, "part") !== undefined && "only a scenario sends a part of a schedule, or sends it at another speed",
    fieldOf(load, "periodResponses") !== undefined &&
      outputs.files.profileExport === undefined &&
      "--periodic-concurrency-range needs a --profile-export-file",
  ];
}
