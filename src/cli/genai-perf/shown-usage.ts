import { type CommandUsage, type ShownOption, showArgparseOption } from "../shown-usage.ts";
import { ABOUT, defaultOf } from "./help.ts";
import { describeOption, type GenaiFlag } from "./options/genai-option.ts";
import { HELP_FLAG, TOP_FLAGS } from "./options/parse.ts";
import { flagsOf, SUBCOMMANDS } from "./options/subcommands.ts";

/** Kinds of values that are files. */
const FILES: readonly GenaiFlag["kind"][] = ["path", "file"];

/** Returns what genai-perf mode accepts. */
export function describeUsage(): CommandUsage {
  return {
    options: TOP_FLAGS.map(show),
    subcommands: SUBCOMMANDS.map((name) => ({
      name,
      summary: ABOUT[name],
      options: [HELP_FLAG, ...flagsOf(name)].map(show),
    })),
  };
}

function show(flag: GenaiFlag): ShownOption {
  const fallback = defaultOf(flag);
  const choices = flag.choices && [...flag.choices, ...(flag.ownChoices ?? [])];
  const { defaultText: _default, unit: _unit, ...rest } = flag;
  const described = { ...rest, help: describeOption(flag), ...(choices && { choices }) };
  return showArgparseOption(
    fallback === undefined ? described : { ...described, defaultText: fallback },
    FILES.includes(flag.kind),
  );
}
