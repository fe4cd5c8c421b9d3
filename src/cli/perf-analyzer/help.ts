import type { PerfAnalyzerOption } from "./options/option.ts";
import { OPTIONS } from "./options/table.ts";

/** The help of perf_analyzer mode, made from the table of options. */

const HELP_COLUMN = 44;
const WIDTH = 120;

/** The whole text. @param command how the command was called */
export function formatHelp(command: string): string {
  const groups = new Set(OPTIONS.map(({ group }) => group));
  return [
    `Usage: ${command} -m MODEL [flags]`,
    "",
    "Measures the throughput and latency of a model on an inference server. Takes the flags of NVIDIA's perf_analyzer and prints",
    "what it prints; flags may be abbreviated, and the last of repeated flags counts unless it says otherwise.",
    "",
    ...[...groups].map(formatGroup),
    "Exit codes: 0 measured, 2 no stable measurement, 99 any other error.",
    "",
    "Examples:",
    `  ${command} -m resnet50 --concurrency-range 1:8`,
    `  ${command} -m resnet50 -i grpc -u gpu-host:8001 --request-rate-range 100 --request-distribution poisson --percentile 99`,
    `  ${command} -m resnet50 --input-data inputs.json --concurrency-range 1:64:4 -l 25 -f results.csv`,
    "",
  ].join("\n");
}

function formatGroup(group: string): string {
  const options = OPTIONS.filter((option) => option.group === group);
  return [`${group}:`, ...options.map(formatOption), ""].join("\n");
}

function formatOption({ names, value, help, unit, defaultText, isRepeatable }: PerfAnalyzerOption): string {
  const shortFirst = names.toSorted((a, b) => a.length - b.length);
  const left = `  ${shortFirst.join(", ")}${value === undefined ? "" : ` ${value}`}`;
  const notes = [
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
    ...(isRepeatable === true ? ["May be repeated."] : []),
  ];
  const lines = wrap([help, ...notes].join(" "), WIDTH - HELP_COLUMN);
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
