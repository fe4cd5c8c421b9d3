import { formatRow } from "../options/rows.ts";
import type { PerfAnalyzerOption } from "./options/option.ts";
import { OPTIONS } from "./options/table.ts";

const HELP_COLUMN = 44;
const WIDTH = 120;

/** Formats the help. @param command the command as it was called */
export function formatHelp(command: string): string {
  const groups = new Set(OPTIONS.map(({ group }) => group));
  return [
    `Usage: ${command} -m MODEL [flags]`,
    "",
    "Measures the throughput and latency of a model on an inference server. Takes the flags of NVIDIA's perf_analyzer and prints",
    "what it prints; flags may be abbreviated, and the last of repeated flags counts unless it says otherwise.",
    "",
    ...[...groups].map(formatGroup),
    "Exit codes: 0 measured, 2 first level not stable, 99 any other error.",
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
  return [`${group}:`, ...options.flatMap(formatOption), ""].join("\n");
}

function formatOption({ names, value, help, unit, defaultText, isRepeatable }: PerfAnalyzerOption): string[] {
  const shortFirst = names.toSorted((a, b) => a.length - b.length);
  const left = `${shortFirst.join(", ")}${value === undefined ? "" : ` ${value}`}`;
  const notes = [
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(defaultText === undefined ? [] : [`Default: ${defaultText}.`]),
    ...(isRepeatable === true ? ["May be repeated."] : []),
  ];
  return formatRow(left, [help, ...notes].join(" "), HELP_COLUMN, WIDTH);
}
