import { durationHint } from "../plan/nearest-name.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { type Duration, nsToMs, parseDurationNs } from "../plan/units.ts";
import type { FlagValues } from "./flags.ts";

/**
 * Reads a flag with a duration above 0; undefined when it is not given or not valid.
 * @param text the value. Default: the one that was given; the value of a flag with a default: `flags.value(name)`
 * @param problems receives a value that is not valid
 */
export function readDuration(
  flags: FlagValues,
  name: string,
  problems: Problem[],
  text = flags.text(name),
): Duration | undefined {
  if (text === undefined) return undefined;
  if ((parseDurationNs(text) ?? 0) > 0) return text as Duration;
  const hint = durationHint(text, 'Give a duration with its unit, such as "10s".');
  problems.push(problem("invalid-value", `--${name}`, "is not a duration", hint, text));
  return undefined;
}

/** Like {@link readDuration}, in milliseconds. */
export function readDurationMs(flags: FlagValues, name: string, problems: Problem[]): number | undefined {
  const duration = readDuration(flags, name, problems);
  return duration === undefined ? undefined : nsToMs(parseDurationNs(duration) as number);
}
