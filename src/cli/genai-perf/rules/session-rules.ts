import { isTokenless } from "../endpoint-formats.ts";
import { canHaveSessions, hasMadeUpPrompts } from "../input-format.ts";
import type { RuleSet } from "./rule-set.ts";

/** Checks that sessions have a load that supports them, and that requests belong to sessions. */
export function checkSessions(rules: RuleSet): void {
  const { input, endpoint } = rules;
  const count = rules.get("input.sessions.num");
  const isMadeUp = hasMadeUpPrompts(input);
  const { value = 0 } = rules.get("perf_analyzer.stimulus");
  if (!rules.load.holdsSessions) {
    const hint = "Add --session-concurrency N, the number of sessions at the same time.";
    rules.refuse(count > 0 && isMadeUp, "input.sessions.num", "sessions need --session-concurrency as the load", hint);
    return;
  }
  const refuse = (isBroken: boolean, message: string, hint: string): void =>
    rules.refuse(isBroken, "perf_analyzer.stimulus", message, hint);
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
  refuse(
    !rules.type.takesPayloads || isTokenless(endpoint),
    `the endpoint type ${endpoint.type} has no conversations`,
    "Use chat or another type of an OpenAI server.",
  );
}

/** Warns about flags that have no effect on sessions, or only on sessions. GenAI-Perf does not warn. */
export function warnOfSessions(rules: RuleSet): void {
  const hasSessions = rules.get("input.sessions.num") > 0;
  if (rules.load.holdsSessions) {
    const why = "with --session-concurrency: every session runs once, to its end";
    rules.warnOfFlag("perf_analyzer.measurement.num", why, "the length of the measurement");
    rules.warnOfFlag("perf_analyzer.stability_percentage", why, "--stability-percentage");
    rules.warnOfFlag("perf_analyzer.warmup_request_count", why);
  }
  const isMadeUp = hasMadeUpPrompts(rules.input);
  if (isMadeUp) rules.warnOfFlag("input.sessions.turn_delay.ratio", "on pauses that are generated");
  if (isMadeUp && hasSessions)
    rules.warnOfFlag("input.num_dataset_entries", "on sessions: each has requests of its own");
  if (!isMadeUp) rules.warnOfFlag("input.sessions.num", "on sessions of a file");
  if (isMadeUp && hasSessions) return;
  const why = isMadeUp ? "without --num-sessions" : "on sessions of a file";
  rules.warnOfFlag("input.sessions.turns.mean", why);
  rules.warnOfFlag("input.sessions.turns.stddev", why);
  rules.warnOfFlag("input.sessions.turn_delay.mean", why);
  rules.warnOfFlag("input.sessions.turn_delay.stddev", why);
}
