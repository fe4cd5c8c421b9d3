import { ENDPOINT_TYPES, TOKENLESS_TYPES } from "../endpoints.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";

/** Rules of conversations. */

type Refuse = (isBroken: boolean, at: SettingPath, flag: string, message: string, hint: string) => void;

/** What sessions need: a load that holds them, and requests that belong to them. @param refuse tells a problem when a rule is broken */
export function checkSessions(settings: GenaiSettings, refuse: Refuse): void {
  const { input, perfAnalyzer, endpoint } = settings;
  const { stimulus } = perfAnalyzer;
  const { count } = input.sessions;
  const isMadeUp = hasMadeUpInputs(input.file);
  if (stimulus.kind !== "session_concurrency") {
    const hint = "Add --session-concurrency, how many at the same time.";
    const message = "sessions need a load that holds them";
    refuse(count > 0 && isMadeUp, "input.sessions.count", "--num-sessions", message, hint);
    return;
  }
  const refuseLoad = (isBroken: boolean, message: string, hint: string): void =>
    refuse(isBroken, "perfAnalyzer.stimulus", "--session-concurrency", message, hint);
  const files = "--input-file payload:FILE with a session_id in each line, or conversations:FILE";
  refuseLoad(isMadeUp && count === 0, "there are no sessions to hold", `Add --num-sessions, or ${files}.`);
  refuseLoad(
    !isMadeUp && !hasSessionsIn(settings),
    `there are no sessions in ${input.file}`,
    `Give ${files}; or leave --input-file out, and --num-sessions are made up.`,
  );
  refuseLoad(
    isMadeUp && count > 0 && count < stimulus.sessions,
    `${stimulus.sessions} sessions at the same time are more than the ${count} that are made up`,
    `Give --num-sessions ${stimulus.sessions} or more.`,
  );
  const { type } = endpoint;
  refuseLoad(
    ENDPOINT_TYPES[type].serviceKind !== "openai" || TOKENLESS_TYPES.includes(type),
    `the endpoint type ${type} has no conversations`,
    "Use chat or another type of an OpenAI server.",
  );
}

/** Whether the input file may have sessions, by its name or by what it is said to hold. */
function hasSessionsIn({ input, rampart }: GenaiSettings): boolean {
  return /^(payload|conversations):/.test(input.file) || ["payload", "sharegpt"].includes(rampart.inputFormat);
}

/** Whether prompts are made up, and sessions with them. */
function hasMadeUpInputs(file: string): boolean {
  return file === "" || file.startsWith("synthetic:");
}

/** What of a load and of sessions has no effect on each other, in whole sentences; the original says nothing of it. */
export function warnOfSessions({ input, perfAnalyzer }: GenaiSettings, given: GivenSettings): string[] {
  const warnings: string[] = [];
  const without = (at: SettingPath, flag: string, why: string): void => {
    if (given.get(at)?.source === "flag") warnings.push(`${flag} has no effect ${why}.`);
  };
  if (perfAnalyzer.stimulus.kind === "session_concurrency") {
    const why = "with --session-concurrency: every session is held once, to its end";
    without("perfAnalyzer.measurement.num", "the length of the measurement", why);
    without("perfAnalyzer.stabilityPct", "--stability-percentage", why);
    without("perfAnalyzer.warmupRequests", "--warmup-request-count", why);
  }
  const isMadeUp = hasMadeUpInputs(input.file);
  if (isMadeUp) without("input.sessions.turnDelay.ratio", "--session-delay-ratio", "on pauses that are made up");
  if (isMadeUp && input.sessions.count > 0)
    without("input.datasetEntries", "--num-dataset-entries", "on sessions: each has requests of its own");
  if (!isMadeUp) without("input.sessions.count", "--num-sessions", "on sessions of a file");
  if (!isMadeUp || input.sessions.count === 0) {
    const why = isMadeUp ? "without --num-sessions" : "on sessions of a file";
    without("input.sessions.turns.mean", "--session-turns-mean", why);
    without("input.sessions.turns.stddev", "--session-turns-stddev", why);
    without("input.sessions.turnDelay.meanMs", "--session-turn-delay-mean", why);
    without("input.sessions.turnDelay.stddevMs", "--session-turn-delay-stddev", why);
  }
  return warnings;
}
