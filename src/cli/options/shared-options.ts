import { defined } from "../../plan/objects.ts";
import { listNames } from "../../plan/show-value.ts";
import { resolveOtlpUrl } from "../../report/live/otlp/otlp-settings.ts";
import { CLIENT_OPTIONS } from "./client-options.ts";
import { LOAD_OPTIONS } from "./load-options.ts";
import { COMMANDS, type Door, MEASURING, PLACEHOLDERS, type SharedOption } from "./shared-option.ts";

/**
 * Rampart's own options that several commands share, each with the same name and meaning in all of them. An option needs only an entry
 * here: the commands and the compatible modes parse it by their rules, show it in their help, and put its value into their plan.
 */

/** The options, in the order of the help. */
const OPTIONS: readonly SharedOption[] = [
  ...LOAD_OPTIONS,
  {
    name: "html",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.html",
    doors: [...MEASURING, "report", "compare"],
    meant: ["--report"],
    help: "Write the report as a page: one HTML file with verdicts, charts and tables that needs no network.",
    differs: {
      report: besideReport(
        ".html",
        "Write the page: one HTML file with verdicts, charts and tables that needs no network.",
      ),
      compare: { help: "Write the comparison as a page: one HTML file that needs no other file." },
    },
  },
  {
    name: "json",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.json",
    doors: [...COMMANDS, "perf_analyzer", "chat", "report", "compare", "doctor"],
    meant: [
      "--out",
      "--output",
      "-o",
      "--summary-export",
      "--output-path",
      "--output-file",
      "--save-result",
      "--artifact-dir",
    ],
    help: "Write the report as JSON, with histograms. - is standard output; the text then goes to stderr.",
    differs: {
      chat: {
        help: "Write the response with its times and counts as JSON. - is standard output; the text then goes to stderr.",
      },
      report: {
        help: "Check the JSON report, and write it again. - is standard output; the text then goes to stderr.",
      },
      compare: { help: "Write the comparison as JSON. - is standard output; the text then goes to stderr." },
      doctor: { help: "Write the findings as JSON. - is standard output; the text then goes to stderr." },
    },
  },
  {
    name: "csv",
    kind: "file",
    setting: "outputs.files.csv",
    doors: [...COMMANDS, "report"],
    help: "Write the tables of the report as CSV, the levels first: a line for each row, units in the names of columns.",
    differs: {
      report: besideReport(".csv", "Write its tables as CSV, the levels first: units in the names of columns."),
    },
  },
  {
    name: "profile-export-file",
    kind: "file",
    setting: "outputs.files.profileExport",
    // The compatible modes have this as an option of the original tool.
    doors: COMMANDS,
    help: "Write every request, in perf_analyzer's profile export layout.",
  },
  {
    name: "records",
    kind: "file",
    setting: "outputs.files.records",
    doors: [...COMMANDS, "genai-perf"],
    meant: ["--records-file"],
    help: "Write every request, also failed ones, as one line of JSON: times, outcome, sizes and level.",
  },
  {
    name: "junit",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.junit",
    doors: [...MEASURING, "report", "compare"],
    help: "Write the verdicts as JUnit XML, for GitLab, Jenkins and GitHub: a test case for each assertion and level.",
    differs: {
      report: besideReport(".xml", "Write the verdicts as JUnit XML: a test case for each assertion and level."),
      compare: {
        help: "Write the limits of --fail-if as JUnit XML. A limit without a result is an error where the exit code is 66.",
      },
    },
  },
  {
    name: "markdown",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.markdown",
    doors: [...MEASURING, "report", "compare"],
    help: "Write a summary in Markdown, for pull requests and $GITHUB_STEP_SUMMARY. - is standard output; the text then goes to stderr.",
    differs: {
      report: besideReport(".md", "Write a summary in Markdown. - is standard output; the text then goes to stderr."),
      compare: {
        help: "Write the comparison as Markdown, for a pull request. - is standard output; the text then goes to stderr.",
      },
    },
  },
  {
    name: "seed",
    kind: "whole",
    setting: "seed",
    doors: ["run"],
    min: 0,
    max: 999_999_999_999_999,
    default: 0,
    meant: ["--random-seed"],
    help: "Seed of all random draws: the same number repeats arrivals and data, also of all runs of a scenario with repeat.",
  },
  {
    name: "api-key-env",
    isCommon: true,
    kind: "text",
    value: "NAME",
    doors: ["llm", "chat", "genai-perf"],
    meant: ["--api-key"],
    help: "Environment variable with the API key, sent as a bearer token (to the type messages as x-api-key) and never printed or exported.",
  },
  ...CLIENT_OPTIONS,
  {
    name: "live",
    kind: "switch",
    setting: "outputs.isLive",
    help: "Show the state of the run on stderr while it lasts: redrawn on a terminal, otherwise a line every 5 s. Without this option Rampart's own commands show it on a terminal, and elsewhere print a line every 30 s.",
  },
  {
    name: "no-live",
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    meant: ["--headless", "--no-tui", "--no-progress"],
    help: "Do not show the state of the run.",
  },
  {
    name: "quiet",
    short: "q",
    isCommon: true,
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    help: "Print only errors, and why a run did not pass.",
  },
  {
    name: "watch-port",
    kind: "whole",
    setting: "outputs.watchPort",
    value: "PORT",
    min: 0,
    max: 65_535,
    example: 9000,
    help: "Serve the state of the run on 127.0.0.1 while it lasts: a web page, and /metrics for Prometheus. 0 takes a free port and prints it.",
  },
  {
    name: "otlp",
    kind: "text",
    setting: "outputs.otlpUrl",
    value: "URL|env",
    help: "Send metrics to this OpenTelemetry collector while the run lasts, as OTLP over HTTP (default path: /v1/metrics). env takes the address from OTEL_EXPORTER_OTLP_METRICS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT.",
    resolve: (text) => {
      const resolved = resolveOtlpUrl(text, process.env);
      return "url" in resolved ? { value: resolved.url } : resolved;
    },
  },
  {
    name: "verbose",
    short: "v",
    isCommon: true,
    kind: "switch",
    setting: "outputs.verbosity",
    puts: 1,
    // The compatible modes have this as an option of the original tool.
    doors: [...COMMANDS, "report", "compare", "doctor"],
    help: "Show all tables and notes of the report, and each measuring window.",
    differs: {
      doctor: { help: "Show all checks." },
      report: { help: "Show all tables and notes." },
      compare: {
        meant: ["--all"],
        help: "Show all metrics and notes. Without it: the metrics that changed or that --fail-if names; with one run on a side, the main ones.",
      },
    },
  },
  {
    name: "dry-run",
    isCommon: true,
    kind: "switch",
    help: "Check everything, print the plan as JSON, send and write nothing.",
  },
];

/** Describes a file of `rampart report`, which is named like its input if no name is given. @param ending extension of that name */
function besideReport(ending: string, help: string): Partial<SharedOption> {
  return { ending, help: `${help} Without a name: beside the JSON, with the ending ${ending}.` };
}

/** Returns the options that a command or mode offers. */
export function sharedOptions(door: Door): SharedOption[] {
  return OPTIONS.filter(({ doors = MEASURING }) => doors.some((one) => one === door)).map((option) => {
    const { differs, ...rest } = option;
    const value = option.value ?? PLACEHOLDERS[option.kind];
    return { ...rest, ...defined({ value }), ...differs?.[door] };
  });
}

/**
 * Returns the explanation of an option that only other commands have; undefined for an unknown name.
 * @param typed name with its dashes @param names names of the command's own options. A command that shares none of them does not measure, so
 * that names of other tools mean nothing to it.
 */
export function optionElsewhere(
  typed: string,
  names: readonly string[],
): { readonly takesValue: boolean; readonly hint: string } | undefined {
  const option = OPTIONS.find(({ name, meant = [] }) => [`--${name}`, ...meant].includes(typed));
  if (option === undefined) return undefined;
  const { name, doors = MEASURING, kind } = option;
  const measuring = COMMANDS.filter((command) => doors.includes(command));
  const commands = `rampart ${listNames(measuring.length > 0 ? measuring : doors)}`;
  const isName = typed === `--${name}`;
  if (!isName && !OPTIONS.some((one) => names.includes(one.name))) return undefined;
  const hint = isName ? `It is an option of ${commands}.` : `Did you mean --${name} of ${commands}?`;
  return { takesValue: kind !== "switch", hint };
}

/** Returns the name of the option for a setting of the Plan as users type it, a switch by its letter. Undefined: none. */
export function sharedNameOf(door: Door, path: string): string | undefined {
  const option = sharedOptions(door).find(({ setting }) => setting === path);
  if (option === undefined) return undefined;
  return option.kind === "switch" && option.short !== undefined ? `-${option.short}` : `--${option.name}`;
}
