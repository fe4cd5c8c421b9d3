import { FLAG_HELP, type FlagGroup } from "./flag-help.ts";
import { type FlagSpec, flagName, laterFlags, OBEYED_FLAGS } from "./flags.ts";

/** The help of perf_analyzer mode, made from the flag table. */

const TITLES: Readonly<Record<FlagGroup, string>> = {
  general: "What to measure",
  measurement: "Load and measurement",
  input: "Input data",
  server: "Server",
  telemetry: "The server's metrics, and its trace settings during the run (set back afterwards)",
  output: "Results",
  deprecated: "Deprecated",
  rampart: "Of Rampart's own",
};

const HELP_COLUMN = 44;
const WIDTH = 120;

/** The whole text. @param command how the command was called */
export function formatHelp(command: string): string {
  const sections = Object.entries(TITLES).map(([group, title]) =>
    formatSection(
      title,
      OBEYED_FLAGS.filter((flag) => FLAG_HELP[flagName(flag)]?.group === group),
    ),
  );
  const later = laterFlags().map(flagName);
  return [
    `Usage: ${command} -m MODEL [flags]`,
    "",
    "Measures the throughput and latency of a model on an inference server. Takes the flags of NVIDIA's perf_analyzer and prints",
    "what it prints; flags may be abbreviated, and the last of repeated flags counts unless it says otherwise.",
    "",
    ...sections,
    "Recognised, but refused with exit code 99 unless they have their default value, until they are supported:",
    ...wrap(later.join(" "), WIDTH - 2).map((line) => `  ${line}`),
    "",
    "Exit codes: 0 measured, 2 no stable measurement, 99 any other error.",
    "",
    "Examples:",
    `  ${command} -m resnet50 --concurrency-range 1:8`,
    `  ${command} -m resnet50 -i grpc -u gpu-host:8001 --request-rate-range 100 --request-distribution poisson --percentile 99`,
    `  ${command} -m resnet50 --input-data inputs.json --concurrency-range 1:64:4 -l 25 -f results.csv`,
    "",
  ].join("\n");
}

function formatSection(title: string, flags: readonly FlagSpec[]): string {
  return [`${title}:`, ...flags.map(formatFlag), ""].join("\n");
}

function formatFlag(flag: FlagSpec): string {
  const names = [flag.short === undefined ? "" : `-${flag.short}`, flag.name === "" ? "" : `--${flag.name}`].filter(
    (name) => name !== "",
  );
  const left = `  ${names.join(", ")}${flag.value === undefined ? "" : ` ${flag.value}`}`;
  const said = FLAG_HELP[flagName(flag)];
  const notes = [
    ...(said?.unit === undefined ? [] : [`In ${said.unit}.`]),
    ...(said?.default === undefined ? [] : [`Default: ${said.default}.`]),
    ...(said?.isRepeatable === true ? ["May be repeated."] : []),
  ];
  const lines = wrap([said?.help ?? "", ...notes].join(" "), WIDTH - HELP_COLUMN);
  const first = left.length < HELP_COLUMN - 1 ? `${left.padEnd(HELP_COLUMN)}${lines.shift() ?? ""}` : left;
  return [first, ...lines.map((line) => " ".repeat(HELP_COLUMN) + line)].join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}
