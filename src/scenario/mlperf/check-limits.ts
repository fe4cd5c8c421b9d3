import { type Problem, problem } from "../../plan/problem.ts";
import type { CheckedMlperf } from "./options.ts";

/** Names of the limits of tokens, which LoadGen judges together and instead of latency. */
const TOKEN_LIMITS = ["timeToFirstToken", "timePerOutputToken"] as const;

/** A load that may be MLPerf's server. */
export interface MaybeServer {
  readonly kind: string;
  readonly options: CheckedMlperf;
}

/** Returns what is wrong with the limits of MLPerf's server; nothing for other loads. */
export function checkServerLimits({ kind, options }: MaybeServer): Problem[] {
  if (kind !== "server") return [];
  const given = TOKEN_LIMITS.filter((name) => options[name] !== undefined);
  if (options.latency !== undefined)
    return given.map((name) =>
      problem("conflict", `load.${name}`, "cannot be given together with latency", "Limit latency, or tokens."),
    );
  if (given.length === TOKEN_LIMITS.length) return [];
  if (given.length === 0) {
    const hint = "Add it, or timeToFirstToken and timePerOutputToken for a target that streams tokens.";
    return [problem("missing", "load.latency", "is missing", hint)];
  }
  const [lacking] = TOKEN_LIMITS.filter((name) => options[name] === undefined);
  const message = `is missing: MLPerf limits it together with ${given[0]}`;
  return [
    problem("missing", `load.${lacking}`, message, "Add it, as a duration that is long enough if it has no limit."),
  ];
}
