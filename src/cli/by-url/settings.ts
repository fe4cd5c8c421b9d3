import { MAX_CONCURRENCY, parseRange, type WrittenRange } from "../../load/levels.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { fromOption, METRIC_OPTIONS, orderName, parseMetric } from "../../measure/metrics/metric-names.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import { nearestName } from "../../plan/nearest-name.ts";
import { defined } from "../../plan/objects.ts";
import { ONLY_ONE, type Problem, problem } from "../../plan/problem.ts";
import { type Duration, formatCount } from "../../plan/units.ts";
import { isFile } from "../../runtime/files.ts";
import type { CapacityOptions } from "../../scenario/definition/capacity.ts";
import { checkAddress } from "../../wizard/address.ts";
import { readDuration, readHeaders, readNumber } from "../flag-values.ts";
import type { FlagValues } from "../flags.ts";
import { toAssertion } from "../options/parse-limit.ts";
import { readAmount } from "../shared-flags.ts";
import type { UrlKind } from "./kinds.ts";

/** Settings from the options of `rampart llm` and `rampart triton`. */
export interface UrlSettings {
  readonly url: string;
  readonly model: string | undefined;
  readonly tokenizer: string | undefined;
  readonly isl: number;
  readonly osl: number;
  readonly shapes: string | undefined;
  /** Absent: the default numbers. */
  readonly users: Users | undefined;
  readonly extent: { readonly for: Duration } | { readonly requests: number } | undefined;
  readonly slos: readonly Slo[];
  readonly capacity: CapacityOptions | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiKeyEnv: string | undefined;
  readonly isInsecure: boolean;
  /** File for the scenario. Absent: none is written. */
  readonly save: string | undefined;
}

/** Numbers of users: a range, or a list. */
export type Users = WrittenRange | readonly number[];

/** A limit, with its value in the notation of scenarios. */
export interface Slo {
  readonly assertion: AssertionPlan;
  readonly value: string;
}

/** Reads the options. @param problems receives all problems */
export function readSettings(flags: FlagValues, { name: door, hasTokens }: UrlKind, problems: Problem[]): UrlSettings {
  const url = readUrl(flags, door, problems);
  const slos = flags.texts("slo").flatMap((text) => readSlo(text, problems) ?? []);
  const whole = (flag: string): number | undefined => readNumber(flags, flag, { isWhole: true, min: 1 }, problems);
  return {
    url,
    model: flags.text("model"),
    tokenizer: flags.text("tokenizer"),
    isl:
      hasTokens === true ? (readNumber(flags, "isl", { isWhole: true, min: 1 }, problems, flags.value("isl")) ?? 1) : 1,
    osl: hasTokens === true ? (readAmount(flags, door, "osl", problems) ?? Number(flags.value("osl"))) : 1,
    shapes: readShapes(flags, problems),
    users: readUsers(flags, slos.length > 0, problems),
    extent: readExtent(flags, door, problems),
    slos,
    capacity: readCapacity(flags, whole, problems),
    headers: readHeaders(flags, problems),
    apiKeyEnv: flags.text("api-key-env"),
    isInsecure: flags.has("insecure"),
    save: readSave(flags, problems),
  };
}

function readShapes(flags: FlagValues, problems: Problem[]): string | undefined {
  const text = flags.text("shapes");
  if (text === undefined || /^\s*([^\s:]+:[1-9]\d*(,[1-9]\d*)*\s*)+$/.test(text)) return text;
  const hint = 'Write --shapes "INPUT0:3,224,224 INPUT1:16".';
  problems.push(problem("invalid-value", "--shapes", "is not NAME:SIZE,SIZE for each input", hint, text));
  return undefined;
}

function readUrl(flags: FlagValues, door: string, problems: Problem[]): string {
  const given = flags.text("url");
  const url = given ?? flags.positionals[0];
  if (url === undefined) {
    problems.push(problem("missing", "URL", "no address is given", `Write rampart ${door} localhost:8000.`));
    return "";
  }
  if (given !== undefined && flags.positionals.length > 0)
    problems.push(problem("conflict", "--url", "the argument is an address too", ONLY_ONE));
  const wrong = checkAddress(url);
  if (wrong !== undefined) problems.push(problem("invalid-value", "URL", wrong, "Write localhost:8000.", url));
  return url.trim();
}

/** Reads `16`, `1,4,16`, `1:64` or `1:64:9`. */
function readUsers(flags: FlagValues, isSearch: boolean, problems: Problem[]): Users | undefined {
  const text = flags.text("users");
  if (text === undefined) return undefined;
  const range = parseRange(text);
  const numbers = text.split(/[,:]/).map(toNumber);
  const message = whyNoUsers(text, numbers, isSearch);
  if (message === undefined) return range ?? numbers;
  const isFalling = range !== undefined && range.start > range.end && numbers.every(isCount);
  const hint = isFalling
    ? `Write --users ${range.end}:${range.start}${range.step === 1 ? "" : `:${range.step}`}.`
    : isSearch
      ? "Write --users 64, --users 8:64 or --users 1,4,16."
      : "Write --users 16, --users 1:8 or --users 1,4,16.";
  problems.push(problem("invalid-value", "--users", message, hint, text));
  return undefined;
}

/** Reads a decimal number; NaN for any other text. */
function toNumber(text: string): number {
  return /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number > 0;
}

/** Returns why a text does not give numbers of users; undefined if it does. @param numbers the numbers in the text */
function whyNoUsers(text: string, numbers: readonly number[], isSearch: boolean): string | undefined {
  const isRange = text.includes(":");
  const ofOtherForm = `is not ${isSearch ? "the largest number, MIN:MAX[:STEP]" : "a number, START:END[:STEP]"} or a list of users`;
  if (numbers.some(Number.isNaN) || (isRange && (text.includes(",") || numbers.length > 3))) return ofOtherForm;
  const wrong = numbers.find((one) => !isCount(one));
  if (wrong !== undefined)
    return `${numbers.length === 1 ? "is" : `has ${wrong}, which is`} not a whole number of 1 or more`;
  if (numbers.some((one) => one > MAX_CONCURRENCY)) return `must be ${formatCount(MAX_CONCURRENCY)} at most`;
  const [first = 1, second = first] = numbers;
  if (isRange && first >= second) return "is not a range that rises";
  if (isSearch && numbers.length === 1 && first === 1) return "leaves nothing to search";
  return isRange && parseRange(text) === undefined ? ofOtherForm : undefined;
}

function readExtent(flags: FlagValues, door: UrlKind["name"], problems: Problem[]): UrlSettings["extent"] {
  const time = readDuration(flags, "for", problems);
  const requests = readAmount(flags, door, "requests", problems);
  if (requests !== undefined && time !== undefined)
    problems.push(problem("conflict", "--for", "--requests already says when to end", ONLY_ONE));
  if (requests !== undefined && flags.has("slo")) {
    const message = "has no effect with --slo, which measures each number of users as long as its limits need";
    problems.push(problem("conflict", "--requests", message, "Leave it out, or give --for, the longest time of each."));
  }
  return requests === undefined ? time && { for: time } : { requests };
}

const SLO_HINT = "Write --slo ttft=200ms, --slo p99=25ms or --slo errorRate=1%.";

/** Returns a metric's name with the 99th percentile, if the metric has several statistics and the name contains none. */
function withStatistic(name: string): string {
  const metric = parseMetric(name) === undefined ? parseMetric(`${name}.p99`) : undefined;
  return metric === undefined ? name : `${name}.${metricOf(metric).better === "higher" ? "p1" : "p99"}`;
}

/** Reads `METRIC=LIMIT`. */
function readSlo(text: string, problems: Problem[]): Slo | undefined {
  const [, name = "", value = ""] = /^\s*([^=<>]+?)\s*=\s*(.+?)\s*$/.exec(text) ?? [];
  if (name === "") {
    // Written like an assertion, or like GenAI-Perf's goodput.
    const [, metric = "", limit] = /^\s*([\w.]+)\s*[<>:]\s*(\S.*)$/.exec(text) ?? [];
    const hint = parseMetric(withStatistic(fromOption(metric))) ? `Write --slo ${metric}=${limit}.` : SLO_HINT;
    problems.push(problem("invalid-value", "--slo", "must be METRIC=LIMIT", hint, text));
    return undefined;
  }
  const known = withStatistic(fromOption(name));
  const metric = parseMetric(known);
  const breaks = metric !== undefined && metricOf(metric).better === "higher" ? "<" : ">";
  const read = toAssertion(`${known} ${breaks} ${value}`);
  if (!("code" in read)) return { assertion: read, value };
  const isUnknown = read.code === "unknown-name";
  const near = isUnknown ? (orderName(name) ?? nearestName(name, METRIC_OPTIONS)) : undefined;
  const isNear = isUnknown && !/^Metrics are/.test(String(read.hint));
  const [, limit] = /^Write .* [<>] (.+)\.$/.exec(String(read.hint)) ?? [];
  const meant = near !== undefined ? `${near}=${value}` : limit && `${name}=${limit}`;
  const hint = meant !== undefined ? `Write --slo ${meant}.` : isNear ? read.hint : SLO_HINT;
  problems.push(problem(read.code, "--slo", read.message, hint, text));
  return undefined;
}

function readCapacity(
  flags: FlagValues,
  whole: (flag: string) => number | undefined,
  problems: Problem[],
): CapacityOptions | undefined {
  const gpus = whole("gpus");
  const targetUsers = whole("target-users");
  const gpuHour = readNumber(flags, "gpu-hour", { isWhole: false, min: 0.000_001, example: 2.5 }, problems);
  for (const flag of ["gpu-hour", "target-users"])
    if (flags.has(flag) && !flags.has("gpus"))
      problems.push(problem("missing", "--gpus", `is needed by --${flag}`, "Give the GPUs of the server: --gpus 1."));
  if (gpus === undefined) return undefined;
  return {
    gpus,
    ...defined({ gpuHour, targetUsers }),
  };
}

function readSave(flags: FlagValues, problems: Problem[]): string | undefined {
  const save = flags.text("save");
  if (save === undefined) return undefined;
  if (!/\.m?ts$/.test(save))
    problems.push(problem("invalid-value", "--save", "is not the name of a scenario", "Write --save load.ts.", save));
  else if (isFile(save))
    problems.push(problem("overwrite", "--save", "exists already", "Give the name of a new file.", save));
  return save;
}
