/**
 * Turns what a run of perf_analyzer printed and wrote into text that is the same for every correct run: measured numbers become N, the
 * order of unordered things is fixed, and everything that a script could rely on stays as it is.
 */

/** What the command line says about how much of the output is fixed. */
export interface Context {
  /** Whether the number of requests is given, so that it is no measured number. */
  hasRequestCount: boolean;
  /** Whether messages of the protocol are printed in between (`-v -v`). */
  isVerboseExtra: boolean;
  /** Whether the text in BYTES tensors is made up, which no run does like another; random numbers are always the same. */
  hasRandomText: boolean;
}

/** Reads the context from a command line. */
export function readContext(args: readonly string[]): Context {
  return {
    hasRequestCount: args.includes("--request-count"),
    isVerboseExtra: args.filter((arg) => arg === "-v").length > 1,
    hasRandomText: !args.includes("--string-data") && !args.some((arg) => arg.startsWith("data/")),
  };
}

/** Lines that appear only when the machine was too busy; {@link dropAccidents} takes them out where the golden has none. */
export const ACCIDENTS = [
  "    Avg send request rate: N infer/sec",
  "    [WARNING] Perf Analyzer was not able to keep up with the desired request rate. N% of the requests were delayed. ",
  "[WARNING] Perf Analyzer is not able to keep up with the desired load. The results may not be accurate.",
];

const LEVEL_LINE = /^Request (?:concurrency|Rate): (?!.*throughput)/;
/** A model that the measured one calls. */
const MODEL_LINE = /^ +\S+, version: \d+$/;
const FIRST_MEASURED_LINE = /^(?:Request concurrency|Request Rate| {2}Pass| {2}Client):? /;
const SUMMARY_LINE = /^((?:Concurrency|Request Rate): [\d.]+)(, throughput: .*)$/;
const COUNT_LINE = /^ {4}Request count: \d+$/;
const PASS_LINE = /^ {2}Pass \[\d+\]/;
/** A number that is no part of a word (p99) or of a position (`[1]`). */
const NUMBER = /(?<![\w.[])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
/** What `-v -v` prints in between: JSON bodies, protobuf text and what comes before them. */
const REPORT_LINE =
  /^(?:\*\*\* Measurement|Request (?:concurrency|Rate)|Concurrency: |Inferences\/Second| {2}(?:Batch size|Service Kind|Sending|Using|Stabilizing|Measurement|Latency limit|Pass \[|Client: |Server: )| {4}(?:Request count|Throughput|Avg |p\d+ latency|Inference count|Execution count|Successful))/;

/** What the text of `--help` is read as: its own tests look at what it says. */
const HELP = "Usage: …";

/** The lines of stdout. The settings block and the lines that name a level keep their numbers. */
export function normaliseStdout(text: string, context: Context): string[] {
  if (text.startsWith("Usage: ")) return [HELP];
  const lines: string[] = [];
  let hasLoadStarted = false;
  let passes = 0;
  for (const line of splitLines(text)) {
    if (context.isVerboseExtra && !REPORT_LINE.test(line)) continue;
    hasLoadStarted ||= FIRST_MEASURED_LINE.test(line);
    passes = PASS_LINE.test(line) ? passes + 1 : 0;
    if (passes > 2) continue; // How many windows it takes until a run is stable is chance.
    if (passes === 2) lines.pop();
    const normalised = hasLoadStarted ? normaliseMeasured(line, context) : line;
    lines.push(passes === 2 ? normalised.replace(/\[\d+\]/, "[...]") : normalised);
  }
  return lines;
}

function normaliseMeasured(line: string, context: Context): string {
  if (LEVEL_LINE.test(line) || MODEL_LINE.test(line)) return line;
  if (context.hasRequestCount && COUNT_LINE.test(line)) return line;
  const summary = line.match(SUMMARY_LINE);
  if (summary === null) return line.replace(NUMBER, "N");
  // The original's two fixed decimals leak into the level after a warning; they are a defect and not copied.
  const level = (summary[1] ?? "").replace(/\.00$/, "");
  return level + (summary[2] ?? "").replace(NUMBER, "N");
}

/** What stderr says about small samples depends on the machine. */
const SMALL_SAMPLE = "Server average accounted time was larger than client average wait time";
const ONE_REQUEST = /^WARNING: Pass contained only one request\b.*$/;
/** What Rampart adds to a failed request: how to measure despite it. */
const RATIO_HINT = /^\w+ --max-error-rate to measure despite failed requests\.$/;
/** What Rampart adds to an error: where help is. */
const HELP_LINE = /^See .* --help\.$/;

/**
 * The lines of stderr without those that are not part of the result: the usage text, libcurl's log, blank lines, Rampart's own notes
 * (`rampart: …`) and its hints (after two blanks). Warnings come last and once: they have no fixed place, and the original repeats them.
 */
export function normaliseStderr(text: string, context: Context): string[] {
  const lines: string[] = [];
  const warnings = new Set<string>();
  let isUsage = false;
  for (const line of splitLines(text)) {
    if (line.startsWith("Usage: ")) isUsage = true;
    if (/^(?:Error|error): /.test(line)) isUsage = false;
    if (isUsage || line === "" || line.startsWith("rampart: ") || line.startsWith("  ") || HELP_LINE.test(line))
      continue;
    if (line.startsWith(SMALL_SAMPLE) || RATIO_HINT.test(line)) continue;
    if (context.isVerboseExtra && !/^(?:Error|error|WARNING)/.test(line)) continue;
    if (line.startsWith("WARNING: "))
      warnings.add(line.replace(ONE_REQUEST, "WARNING: Pass contained only one request"));
    else lines.push(line);
  }
  return [...lines, ...[...warnings].sort()];
}

/** Takes lines that blame the machine out of `actual`, unless the golden has them too. */
export function dropAccidents(actual: readonly string[], golden: readonly string[]): string[] {
  return actual.filter((line) => !ACCIDENTS.includes(line) || golden.includes(line));
}

/** The header, then the rows by level (their order is by throughput, thus chance), with N for every cell but the level's. */
export function normaliseCsv(text: string): string[] {
  const [header = "", ...rows] = splitLines(text);
  const cells = rows.map((row) => row.split(","));
  const levelColumn = 0;
  const throughputs = cells.map((row) => Number(row[1]));
  const isAscending = throughputs.every((value, i) => i === 0 || value >= (throughputs[i - 1] ?? 0));
  const levels = cells
    .filter((row) => row[levelColumn] !== "")
    .sort((a, b) => Number(a[levelColumn]) - Number(b[levelColumn]));
  const normalised = levels.map((row) =>
    row.map((cell, column) => (column === levelColumn ? cell : normaliseCell(cell))).join(","),
  );
  return [header, ...normalised, `rows by throughput: ${isAscending ? "ascending" : "in another order"}`];
}

function normaliseCell(cell: string): string {
  // A metric per GPU: `UUID:value;UUID:value;`.
  if (cell.endsWith(";")) return cell.replace(/:[\d.e+]+;/g, ":N;");
  return cell !== "" && Number.isFinite(Number(cell)) ? "N" : cell;
}

interface ProfileRequest {
  timestamp: number;
  sequence_id?: number;
  request_inputs: Record<string, unknown>;
  response_timestamps: number[];
  response_outputs: Record<string, unknown>[];
}

interface Profile {
  experiments: { experiment: unknown; requests: ProfileRequest[]; window_boundaries: number[] }[];
  [key: string]: unknown;
}

/**
 * The shape of a profile export: for every experiment its labels, how many requests and window boundaries it has, and each distinct
 * request with its tensors. Tensors are sorted by name, as their order is the order of a hash table.
 */
export function normaliseProfile(bytes: Uint8Array, context: Context): string[] {
  const profile = JSON.parse(decode(bytes)) as Profile;
  const lines: string[] = [];
  for (const { experiment, requests, window_boundaries: boundaries, ...rest } of profile.experiments) {
    lines.push(`experiment ${JSON.stringify(experiment)}${describeRest(rest)}`);
    lines.push(`  requests: ${context.hasRequestCount ? requests.length : requests.length > 0 ? "some" : "none"}`);
    lines.push(
      `  window boundaries: ${describeCount(boundaries.length, context)}, ${isAscending(boundaries) ? "ascending" : "in another order"}`,
    );
    const ids = requests.map(({ sequence_id: id }) => id).filter((id) => id !== undefined);
    if (ids.length > 0)
      lines.push(
        `  sequence ids: from ${Math.min(...ids)}${context.hasRequestCount ? `, ${new Set(ids).size} of them` : ""}`,
      );
    lines.push(`  answers ${requests.every(isAnsweredLater) ? "after" : "not always after"} their requests`);
    lines.push(...[...new Set(requests.map((request) => describeRequest(request, context)))].sort());
  }
  const { experiments: _, ...rest } = profile;
  lines.push(`then${describeRest(rest)}`);
  return lines;
}

function describeRequest(request: ProfileRequest, context: Context): string {
  const describe = (tensors: Record<string, unknown>): string =>
    JSON.stringify(sortKeys(tensors), (_, value) =>
      context.hasRandomText && typeof value === "string" ? value.replace(/[ -~]/g, "c") : value,
    );
  const {
    request_inputs: inputs,
    response_outputs: outputs,
    timestamp: _,
    response_timestamps: times,
    sequence_id: id,
    ...rest
  } = request;
  // What a sequence's answers are depends on its length, which is drawn anew in every run.
  const answers = outputs.map((output) => (id === undefined ? describe(output) : Object.keys(output).join())).join(" ");
  return `  ${describe(inputs)} -> ${times.length} x ${answers}${describeRest(rest)}`;
}

/** Every window has an end and the first has a start, and at least three are needed; how many there are is chance. */
function describeCount(boundaryCount: number, context: Context): string {
  return !context.hasRequestCount && boundaryCount > 4 ? "4" : String(boundaryCount);
}

function isAnsweredLater({ timestamp, response_timestamps: times }: ProfileRequest): boolean {
  return times.length > 0 && times.every((time) => time >= timestamp);
}

function isAscending(values: readonly number[]): boolean {
  return values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0));
}

function describeRest(rest: Record<string, unknown>): string {
  return Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(sortKeys(rest))}`;
}

function sortKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The original writes the bytes of BYTES tensors as they are, so its file need not be UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
