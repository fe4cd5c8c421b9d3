import { nameHint } from "../../../plan/nearest-name.ts";
import { type Problem, problem } from "../../../plan/problem.ts";
import { checkGiven, type GivenOption, parseArgparse } from "../../options/argparse.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "../endpoints.ts";
import type { GenaiFlag } from "./genai-option.ts";
import { type PassedFlags, parsePassed } from "./passed-flags.ts";
import { flagsOf, SUBCOMMANDS, type SubcommandName } from "./subcommands.ts";

/** Parses the command lines of genai-perf and its subcommands. */

/** A parsed command line. */
export type ParsedCommand =
  | { readonly kind: "help"; readonly subcommand: SubcommandName | undefined }
  | { readonly kind: "version" }
  /** A usage error. `prog` is the parser that reports it: `genai-perf` or `genai-perf profile`. */
  | {
      readonly kind: "usage";
      readonly subcommand: SubcommandName | undefined;
      readonly problems: readonly Problem[];
      /** The recognised part of the command line; undefined without a subcommand. */
      readonly recognised: GivenCommand | undefined;
    }
  | GivenCommand;

/** A subcommand with its flags. */
export interface GivenCommand {
  readonly kind: "command";
  readonly subcommand: SubcommandName;
  readonly given: readonly GivenOption<GenaiFlag>[];
  readonly passed: PassedFlags;
}

/** `-h`, for all subcommands. */
export const HELP_FLAG: GenaiFlag = {
  names: ["-h", "--help"],
  group: "Other",
  kind: "boolean",
  count: "switch",
  help: "Show this and exit.",
};

/** The flags before a subcommand. */
export const TOP_FLAGS: readonly GenaiFlag[] = [
  HELP_FLAG,
  { ...HELP_FLAG, names: ["--version"], help: "Print the version and exit." },
];

/** Parses the arguments after `genai-perf`. Never throws. */
export function parseCommand(args: readonly string[]): ParsedCommand {
  const end = args.indexOf("--");
  const before = end < 0 ? args : args.slice(0, end);
  const passed = parsePassed(end < 0 ? [] : args.slice(end + 1));
  const top = parseArgparse(TOP_FLAGS, before, true);
  if (top.given.some(({ option }) => option === HELP_FLAG)) return { kind: "help", subcommand: undefined };
  if (top.given.length > 0) return { kind: "version" };
  const name = top.rest[0];
  if (name === undefined) return usage(undefined, [...top.problems, missingSubcommand()]);
  const subcommand = SUBCOMMANDS.find((known) => known === name);
  if (subcommand === undefined) return usage(undefined, [...top.problems, unknownSubcommand(name)]);
  const flags = flagsOf(subcommand);
  const parsed = parseArgparse([HELP_FLAG, ...flags], dropServiceKind(top.rest.slice(1)), false, (argument) =>
    explainUnknown(argument, subcommand, top.rest),
  );
  if (parsed.given.some(({ option }) => option === HELP_FLAG)) return { kind: "help", subcommand };
  const together = checkGiven(`genai-perf ${subcommand}`, flags, parsed.given);
  const problems = [...top.problems, ...parsed.problems, ...together];
  const isRampart = parsed.hasRampartProblems || together.length > 0;
  const command: GivenCommand = { kind: "command", subcommand, given: parsed.given, passed };
  return problems.length > 0 ? usage(isRampart ? subcommand : undefined, problems, command) : command;
}

function usage(
  subcommand: SubcommandName | undefined,
  problems: readonly Problem[],
  recognised?: GivenCommand,
): ParsedCommand {
  return { kind: "usage", subcommand, problems, recognised };
}

const SERVICE_KIND = "--service-kind";

/** Returns the value of a long option as typed, and the number of arguments that it uses, from `index` on. */
function valueAt(args: readonly string[], index: number, name: string): [value: string, count: number] | undefined {
  const arg = args[index] ?? "";
  if (arg.startsWith(`${name}=`)) return [arg.slice(name.length + 1), 1];
  return arg === name && index + 1 < args.length ? [args[index + 1] as string, 2] : undefined;
}

/** Removes `--service-kind`, which is still in GenAI-Perf's documentation, if it agrees with `--endpoint-type`. */
function dropServiceKind(args: readonly string[]): readonly string[] {
  const found = args
    .map((_, index) => valueAt(args, index, "--endpoint-type")?.[0])
    .filter((type) => type !== undefined);
  const type = found.at(-1) ?? "";
  const implied = Object.hasOwn(ENDPOINT_TYPES, type)
    ? ENDPOINT_TYPES[type as EndpointTypeName].serviceKind
    : undefined;
  const kept: string[] = [];
  for (let index = 0; index < args.length; ) {
    const [value, count] = valueAt(args, index, SERVICE_KIND) ?? [undefined, 1];
    if (value === undefined || value !== implied) kept.push(...args.slice(index, index + count));
    index += count;
  }
  return kept;
}

/** Explains `--service-kind` if it was not removed. */
function explainServiceKind(args: readonly string[]): string {
  const given = args.map((_, index) => valueAt(args, index, SERVICE_KIND)?.[0]).find((kind) => kind !== undefined);
  const type = Object.entries(ENDPOINT_TYPES).find(([, { serviceKind }]) => serviceKind === given)?.[0];
  return `Leave --service-kind out: since GenAI-Perf 0.0.16, --endpoint-type replaces it, such as --endpoint-type ${type ?? "chat"}.`;
}

/** Explains an option that GenAI-Perf used to have, or that another subcommand has. */
function explainUnknown(argument: string, subcommand: SubcommandName, args: readonly string[]): string | undefined {
  const name = argument.split("=")[0] as string;
  if (name !== SERVICE_KIND) {
    const others = SUBCOMMANDS.filter(
      (other) => other !== subcommand && flagsOf(other).some(({ names }) => names.includes(name)),
    );
    return others.length === 0 ? undefined : `${name} is an option of genai-perf ${others.join(" and ")}.`;
  }
  return explainServiceKind(args);
}

function missingSubcommand(): Problem {
  const message = "the following arguments are required: subcommand";
  return problem("missing", "genai-perf", message, `Give one of ${SUBCOMMANDS.join(", ")}.`);
}

function unknownSubcommand(name: string): Problem {
  const choices = SUBCOMMANDS.map((choice) => `'${choice}'`).join(", ");
  const message = `argument subcommand: invalid choice: '${name}' (choose from ${choices})`;
  return problem("unknown-name", "subcommand", message, nameHint(name, SUBCOMMANDS, "See genai-perf --help."));
}
