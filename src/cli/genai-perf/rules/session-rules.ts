import { isTokenless } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { canHaveSessions, hasMadeUpPrompts } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import type { RuleSet } from "./rule-set.ts";

/** Checks that sessions have a load that supports them, and requests that belong to them. */
export function checkSessions(rules: RuleSet): void {
  const { input, prompts, perfAnalyzer, endpoint } = rules.settings;
  const { count } = prompts.sessions;
  const isMadeUp = hasMadeUpPrompts(rules.settings.input);
  const { value = 0 } = perfAnalyzer.stimulus;
  if (!loadOf(perfAnalyzer.stimulus.kind).holdsSessions) {
    const hint = "Add --session-concurrency N, the number of sessions at the same time.";
    rules.refuse(
      count > 0 && isMadeUp,
      "prompts.sessions.count",
      "sessions need --session-concurrency as the load",
      hint,
    );
    return;
  }
  const refuse = (isBroken: boolean, message: string, hint: string): void =>
    rules.refuse(isBroken, "perfAnalyzer.stimulus", message, hint);
  const files = "--input-file payload:FILE with a session_id in each line, or conversations:FILE";
  refuse(isMadeUp && count === 0, "there are no sessions", `Add --num-sessions, or ${files}.`);
  refuse(
    !isMadeUp && !canHaveSessions(input),
    `there are no sessions in ${input.file}`,
    `Give ${files}; or leave out --input-file, so that --num-sessions are generated.`,
  );
  refuse(
    isMadeUp && count > 0 && count < value,
    `${value} sessions at the same time are more than the ${count} that are generated`,
    `Give --num-sessions ${value} or more.`,
  );
  const { type } = endpoint;
  refuse(
    !ENDPOINT_TYPES[type].takesPayloads || isTokenless(endpoint),
    `the endpoint type ${type} has no conversations`,
    "Use chat or another type of an OpenAI server.",
  );
}

/** Warns of flags that have no effect on sessions, or only on sessions. GenAI-Perf does not warn. */
export function warnOfSessions(rules: RuleSet): void {
  const { prompts, perfAnalyzer } = rules.settings;
  const hasSessions = prompts.sessions.count > 0;
  if (loadOf(perfAnalyzer.stimulus.kind).holdsSessions) {
    const why = "with --session-concurrency: every session runs once, to its end";
    rules.warnOfFlag("perfAnalyzer.measurement.num", why, "the length of the measurement");
    rules.warnOfFlag("perfAnalyzer.stabilityPct", why, "--stability-percentage");
    rules.warnOfFlag("perfAnalyzer.warmupRequests", why);
  }
  const isMadeUp = hasMadeUpPrompts(rules.settings.input);
  if (isMadeUp) rules.warnOfFlag("prompts.delayRatio", "on pauses that are generated");
  if (isMadeUp && hasSessions) rules.warnOfFlag("prompts.entryCount", "on sessions: each has requests of its own");
  if (!isMadeUp) rules.warnOfFlag("prompts.sessions.count", "on sessions of a file");
  if (isMadeUp && hasSessions) return;
  const why = isMadeUp ? "without --num-sessions" : "on sessions of a file";
  rules.warnOfFlag("prompts.sessions.turns.mean", why);
  rules.warnOfFlag("prompts.sessions.turns.stddev", why);
  rules.warnOfFlag("prompts.sessions.delayMs.mean", why);
  rules.warnOfFlag("prompts.sessions.delayMs.stddev", why);
}
