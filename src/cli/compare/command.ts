import { findMetric, type NamedMetric } from "../../measure/metrics/metric-names.ts";
import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { compareRuns } from "../../report/compare/compare-runs.ts";
import type { Comparison } from "../../report/compare/comparison.ts";
import { hasIntervals } from "../../report/compare/file-notes.ts";
import { toComparisonJson } from "../../report/compare/json.ts";
import {
  type ChangeLimit,
  type ChangeLimitState,
  type ComparedSides,
  judgeLimit,
} from "../../report/compare/limits.ts";
import { buildComparisonModel } from "../../report/compare/model.ts";
import { judgeComparison } from "../../report/compare/verdict.ts";
import { writeModelFiles } from "../../report/model-files.ts";
import { renderText, styleOf } from "../../report/text/render-text.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { commandOf } from "../command-usage.ts";
import type { CommandIo } from "../execute.ts";
import { explainErrors } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import { type HelpPage, printsHelp } from "../help/page.ts";
import { parseLimit, parsePrecision } from "../options/parse-limit.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { inScenario, withNames } from "../setting-names.ts";
import { commandFlags, readFiles } from "../shared-flags.ts";
import { type ReadSide, readSides } from "./run-sets.ts";
import { type GivenSides, splitSides } from "./sides.ts";

/** `rampart compare`: finds differences between whole runs, and fails if one is a regression. */

/** The flags of `rampart compare`. `--base` and `--new` take all files up to the next flag; `sides.ts` reads them. */
export const FLAGS: readonly Flag[] = commandFlags("compare", [
  {
    name: "base",
    isCommon: true,
    value: "FILE…",
    help: "The runs to compare with: all files up to the next flag. Instead of the first argument.",
  },
  {
    name: "new",
    isCommon: true,
    value: "FILE…",
    help: "The runs of a candidate: all files up to the next flag; once for each candidate. Instead of the other arguments.",
  },
  {
    name: "strict",
    isCommon: true,
    help: "Exit with 66 when undecided, also without --fail-if. With --fail-if: when a limit is neither kept nor broken. Without it the metrics of the first screen are judged: 65 when one is worse, 66 when one cannot be decided.",
  },
  {
    name: "within-runs",
    help: "With one run on a side, take the confidence interval within the run, which lacks the variation between runs.",
  },
  {
    name: "precision",
    value: "PERCENT",
    default: "5%",
    help: "Smallest difference that matters: no difference is shown only when a larger one is excluded.",
  },
]);

interface Request {
  readonly given: GivenSides;
  readonly limits: readonly ChangeLimit[];
  readonly precision: number;
  readonly acceptsWithinRuns: boolean;
  readonly isStrict: boolean;
  readonly isAll: boolean;
  readonly files: OutputFilesPlan;
}

/** The command. */
export const COMMAND = commandOf(FLAGS, runCompareCommand, { name: "REPORT", takes: "file" });

/** Runs `rampart compare`. Returns the exit code. */
export async function runCompareCommand(args: readonly string[], command: string, rawIo: CommandIo): Promise<number> {
  const io = withNames(rawIo, inScenario);
  return explainErrors(command, io, (parse) => {
    const given = splitSides(args, takesValue);
    const flags = parse(FLAGS, given.rest, 0);
    if (printsHelp(flags, helpPage(command), io)) return Promise.resolve(EXIT.passed);
    return compare(readRequest(given, flags), io);
  });
}

function takesValue(arg: string): boolean {
  return FLAGS.some(({ name, value }) => value !== undefined && arg === `--${name}`);
}

function readRequest(given: GivenSides, flags: FlagValues): Request {
  const problems: Problem[] = [...flags.problems, ...given.problems];
  const limits = flags.texts("fail-if").flatMap((text) => {
    const parsed = parseLimit(text);
    if (!("code" in parsed)) return [parsed];
    problems.push(parsed);
    return [];
  });
  const givenPrecision = flags.value("precision");
  const precision = parsePrecision(givenPrecision);
  if (precision === undefined) {
    const hint = "Give a percentage above 0 and up to 100 %, such as 2%.";
    problems.push(problem("invalid-value", "--precision", "is not a percentage", hint, givenPrecision));
  }
  const files = readFiles(flags, sharedOptions("compare"), [...given.base, ...given.candidates.flat()], problems);
  if (problems.length > 0 || precision === undefined) throw new UserError(problems);
  return {
    given,
    limits,
    precision,
    acceptsWithinRuns: flags.has("within-runs"),
    isStrict: flags.has("strict"),
    isAll: flags.has("verbose"),
    files,
  };
}

async function compare(request: Request, io: CommandIo): Promise<number> {
  const { given, limits, files, isAll, isStrict } = request;
  const [base, ...candidates] = readSides([given.base, ...given.candidates]);
  if (base === undefined) throw new Error("there is always a base");
  const comparisons = candidates.map((next) => compareRuns(base, next, request));
  checkLimits(limits, comparisons);
  const sides = comparisons.map(
    (comparison): ComparedSides => ({
      comparison,
      limits: limits.flatMap((limit) => judgeLimit(limit, comparison)),
      isAll,
    }),
  );
  const textIo = routeTextAroundReports(io, files);
  for (const side of new Set([base, ...candidates])) warnOfPartial(side, io);
  for (const limit of limits) warnOfBetter(limit, io);
  const model = buildComparisonModel(sides, isStrict);
  textIo.out(renderText(model, { isVerbose: isAll, ...styleOf(textIo) }));
  await writeModelFiles(files, model, toComparisonJson(sides, isStrict));
  return conclude(sides, request, io);
}

function warnOfPartial({ partial }: ReadSide, io: CommandIo): void {
  for (const source of partial) io.err(`rampart: ${source} is left out: the run ended early\n`);
}

/** A limit on a change for the better fails good runs and passes regressions, which is hardly intended. */
function warnOfBetter({ metric: { better, name }, comparison, of, amount, text }: ChangeLimit, io: CommandIo): void {
  if (of === "value" || better === undefined || Math.sign(amount) !== (better === "higher" ? 1 : -1)) return;
  if (comparison.startsWith(">") !== (better === "higher")) return;
  const [, size = ""] = /[-+]\s*(.*)$/.exec(text) ?? [];
  const worse = better === "higher" ? `${name} < -${size}` : `${name} > +${size}`;
  io.err(`rampart: --fail-if '${text}' is broken by a change for the better; a regression is '${worse}'\n`);
}

/** @throws UserError for limits on metrics that are missing at all levels of one side */
function checkLimits(limits: readonly ChangeLimit[], comparisons: readonly Comparison[]): void {
  const problems = limits.flatMap(({ metric, text }) => comparisons.flatMap((one) => checkMetric(metric, text, one)));
  if (problems.length > 0) throw new UserError(problems);
}

function checkMetric({ name, label }: NamedMetric, text: string, { base, next }: Comparison): Problem[] {
  return [base, next].flatMap(({ name: side, runs }) => {
    const names = new Set(runs.flatMap(({ levels }) => levels.flatMap(({ values }) => [...values.keys()])));
    if (names.has(name)) return [];
    const known = [...names].filter((one) => findMetric(one) !== undefined);
    return [problem("mismatch", "--fail-if", `${side} has no ${label}`, `It has ${known.join(", ")}.`, text)];
  });
}

/** Returns the exit code, and says how to decide more, or what an open limit means. */
function conclude(sides: readonly ComparedSides[], { isStrict, acceptsWithinRuns }: Request, io: CommandIo): number {
  const verdicts = sides.flatMap(({ limits }) => limits);
  const has = (state: ChangeLimitState): boolean => verdicts.some((one) => one.state === state);
  const few = sides.filter(({ comparison: { base, next } }) => base.runs.length < 2 || next.runs.length < 2);
  const canAccept =
    !acceptsWithinRuns &&
    few.some(({ comparison: { base, next } }) => [...base.runs, ...next.runs].every((run) => hasIntervals(run)));
  if (canAccept && (verdicts.length === 0 || has("undecidable"))) {
    io.err("rampart: --within-runs compares by the intervals within the runs\n");
  } else if (has("unresolved") && !has("broken") && !has("undecidable") && !isStrict) {
    io.err("rampart: a limit is neither kept nor broken, which passes; with --strict the exit code is 66\n");
  }
  return judgeComparison(sides, isStrict).exitCode;
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} BASE NEW [MORE…] [options]`, `${command} --base FILE… --new FILE… [options]`],
    about: [
      "Compares whole runs: the first argument is the base, each other one a candidate. Each is a report with one run, or with several (repeat in a scenario), several reports joined with commas, or a folder of reports. Formats are recognised by their content: the JSON of Rampart, GenAI-Perf and AIPerf, the CSV and profile exports of perf_analyzer, and files of records.",
    ],
    flags: FLAGS,
    details: [
      "Limits of --fail-if are METRIC > LIMIT, with >, >=, < or <=. With a sign they limit the change from base to new (+5%; of errorRate in percentage points), without one the new value (25ms, 1%, 100). METRIC is named as in assertions of scenarios: p99, mean, throughput, errorRate, timeToFirstToken.p99 or p99(timeToFirstToken), outputTokensPerSec and others: all names that --json prints.",
    ],
    examples: [
      `${command} base.json new.json`,
      `${command} base.json new.json --fail-if 'p99 > +5%' --markdown comment.md`,
      `${command} base-1.json,base-2.json new-1.json,new-2.json`,
      `${command} --base old/*.json --new new/*.json --html compare.html`,
    ],
    exitCodes:
      "0 passed, 64 wrong usage or files, 65 a limit is broken, 66 a limit cannot be decided: always when a side has one run, with --strict also when the interval is too wide; 74 a report could not be written, 1 internal error.",
  };
}
