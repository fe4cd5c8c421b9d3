import { EXIT } from "../../result/exit-codes.ts";
import type { CommandUsage, ShownCommand, ShownOption } from "../command-usage.ts";

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  passed: "Done; every assertion holds.",
  internal: "A defect of Rampart.",
  usage: "A mistake in the command line or the scenario. Nothing was sent.",
  assertionFailed: "An assertion does not hold.",
  unstable: "A level was not stable, or a search was not decided.",
  unreachable: "The server cannot be reached, or all requests failed.",
  output: "A report could not be written.",
  interrupted: "Ended by Ctrl-C, SIGTERM or SIGHUP.",
};

/** Formats the man page rampart(1), in the macros of man(7). */
export function formatManPage(version: string, commands: readonly ShownCommand[]): string {
  return [
    `.TH RAMPART 1 "" "rampart ${version}" "User Commands"`,
    ".SH NAME",
    "rampart \\- measure inference servers",
    ".SH SYNOPSIS",
    ".B rampart",
    ".I COMMAND",
    "[options]",
    ".SH DESCRIPTION",
    "Measures inference servers: latency, throughput and token times under load. It runs load tests written in TypeScript, and takes the",
    "command lines of perf_analyzer and GenAI\\-Perf.",
    ".PP",
    ".B rampart help",
    "lists guides and prints them.",
    "Linked as perf_analyzer or genai\\-perf, the executable is that command.",
    ".SH COMMANDS",
    ...commands.flatMap(formatCommand),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT).flatMap(([name, code]) => [
      ".TP",
      `.B ${code}`,
      escapeRoff(EXIT_MEANINGS[name as keyof typeof EXIT]),
    ]),
    ".PP",
    "perf_analyzer: 0 measured, 2 first level not stable, 99 any other error.",
    "genai\\-perf: 0 done, 1 failed, 2 wrong usage.",
    "",
  ].join("\n");
}

function formatCommand({ name, summary, usage }: ShownCommand): string[] {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return [
    `.SS ${escapeRoff(`rampart ${name}${synopsisOf(usage)}`)}`,
    escapeRoff(sentence),
    ...usage.options.flatMap(formatOption),
    ...(usage.subcommands ?? []).flatMap((subcommand) => [
      `.SS ${escapeRoff(`rampart ${name} ${subcommand.name}${synopsisOf(subcommand)}`)}`,
      escapeRoff(subcommand.summary),
      ...subcommand.options.flatMap(formatOption),
    ]),
  ];
}

function synopsisOf({ operand, options, subcommands }: CommandUsage): string {
  const words = [
    ...(subcommands === undefined ? [] : ["SUBCOMMAND"]),
    ...(operand === undefined ? [] : [operand.name]),
    ...(options.length === 0 ? [] : ["[options]"]),
  ];
  return words.map((word) => ` ${word}`).join("");
}

function formatOption({ names, value, choices, help }: ShownOption): string[] {
  const terms = names.map((name) => `\\fB${escapeRoff(name)}\\fR`).join(", ");
  const argument = value === undefined ? "" : ` \\fI${escapeRoff(value)}\\fR`;
  const text = choices === undefined || value === choices.join("|") ? help : `${help} One of ${choices.join(", ")}.`;
  return [".TP", `${terms}${argument}`, escapeRoff(text)];
}

/** Escapes a line: one that begins with a dot or an apostrophe would be a macro, and non-ASCII characters are written as numbers. */
function escapeRoff(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("\n", " ")
    .replace(/[^ -~]/gu, (character) => {
      const hex = (character.codePointAt(0) as number).toString(16).toUpperCase();
      return `\\[u${hex.padStart(4, "0")}]`;
    });
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
