import { defined } from "../../plan/objects.ts";
import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import { messageOf, type Problem, problem, RunError, UserError } from "../../plan/problem.ts";
import { plural } from "../../plan/units.ts";
import { column, makeTable } from "../../report/model/tables.ts";
import { writeOutput } from "../../report/output-file.ts";
import { formatTextTable, valueText } from "../../report/text/text-table.ts";
import { EXIT } from "../../result/exit-codes.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import type { HelpPage } from "../help/page.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { commandFlags, readAmount, readFiles } from "../shared-flags.ts";
import { CHECKS } from "./checks.ts";
import { type AskedLoad, type Check, type Finding, unknown } from "./finding.ts";
import { type Host, thisHost } from "./host.ts";

/** `rampart doctor`: checks whether this host can send a load and measure it well. */

/**
 * Output of `rampart doctor`: the verdict, then the checks that need action, and what limits this host; the others only if they are asked
 * for.
 */

/** A check with its finding. */
export type NamedFinding = Finding & { readonly check: string };

const MARKS: Readonly<Record<Finding["status"], string>> = {
  problem: "PROBLEM",
  warning: "warning",
  ok: "ok",
  unknown: "unknown",
};
const STYLE = { maxColumns: 80, format: valueText };

/** Formats the findings, with a line break at the end. @param isVerbose whether to include checks that need no action */
export function formatFindings(findings: readonly NamedFinding[], isVerbose: boolean): string {
  const count = (status: Finding["status"]): number => findings.filter((one) => one.status === status).length;
  const counted = (number: number, what: string): string => `${number === 0 ? "no" : number} ${plural(number, what)}`;
  const [problems, warnings] = [count("problem"), count("warning")];
  const verdict =
    problems > 0 ? "PROBLEM  this host cannot send the asked load as it is" : "OK  nothing prevents the asked load";
  const urgency = ({ status }: Finding): number => ["problem", "warning"].indexOf(status) + 1 || LAST;
  const sorted = findings.toSorted((a, b) => urgency(a) - urgency(b));
  const shown = isVerbose ? sorted : sorted.filter((one) => urgency(one) < LAST || LIMITS.has(one.check));
  const rows = shown.length === 0 ? "" : `\n${formatRows(shown)}\n`;
  const others = describeOthers(findings.filter((one) => !shown.includes(one)));
  return `${verdict}: ${counted(problems, "problem")}, ${counted(warnings, "warning")}\n${rows}${others}`;
}

/** The checks that find what limits this host. */
const LIMITS: ReadonlySet<string> = new Set(CHECKS.flatMap(({ name, isLimit }) => (isLimit === true ? [name] : [])));

/** Describes the checks that are not shown; empty if all are. */
function describeOthers(others: readonly Finding[]): string {
  if (others.length === 0) return "";
  const unknownCount = others.filter(({ status }) => status === "unknown").length;
  const okCount = others.length - unknownCount;
  const unknowns = unknownCount === 0 ? "" : `, ${unknownCount} unknown on this system`;
  return `\n${okCount} other ${plural(okCount, "check")} ok${unknowns}: -v shows them\n`;
}

/** Position of checks that need no action: after the others, in their original order. */
const LAST = 3;

function formatRows(findings: readonly NamedFinding[]): string {
  const rows = findings.flatMap(({ check, status, message, fix }) => [
    { check, mark: MARKS[status], text: message },
    ...(fix === undefined ? [] : [{ check: "", mark: "", text: `→ ${fix}.` }]),
  ]);
  type Row = (typeof rows)[number];
  const columns = [
    column<Row>("mark", "", "text", 0, ({ mark }) => mark),
    column<Row>("check", "", "text", 0, ({ check }) => check),
    column<Row>("found", "", "text", 0, ({ text }) => text),
  ];
  return formatTextTable(makeTable("", columns, rows), STYLE).lines.join("\n");
}

/** The options of `rampart doctor`. */
export const FLAGS: readonly Flag[] = commandFlags("doctor", []);

/** The command. */
export const COMMAND = flagCommand({ operand: { name: "URL", takes: "word" }, page: helpPage, run: runDoctorCommand });

/** Runs the command. Returns 0, or 65 when a problem makes the asked load impossible. */
async function runDoctorCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  const { load, files } = readAsked(flags);
  const host = thisHost();
  const findings: NamedFinding[] = [];
  // The verdict comes first, and the checks take a while.
  io.err("  looking at this host for some seconds …\n");
  for (const check of CHECKS) findings.push(await runCheck(check, host, load));
  const isPossible = findings.every(({ status }) => status !== "problem");
  routeTextAroundReports(io, { ...files }).out(formatFindings(findings, flags.has("verbose")));
  if (files.json !== undefined) writeJson(files.json, { isPossible, load, findings });
  return isPossible ? EXIT.passed : EXIT.assertionFailed;
}

/** Runs a check. A check that throws is reported as failed, and the other checks still run. */
export async function runCheck({ name, run }: Check, host: Host, load: AskedLoad): Promise<NamedFinding> {
  try {
    return { check: name, ...(await run(host, load)) };
  } catch (error) {
    return { check: name, ...unknown(`the check failed: ${messageOf(error)}`) };
  }
}

function writeJson(path: string, findings: object): void {
  try {
    writeOutput(path, `${JSON.stringify(findings, null, 2)}\n`);
  } catch (error) {
    const message = `${path} cannot be written: ${messageOf(error)}`;
    throw new RunError("output", message, "Give another path with --json.");
  }
}

/** @throws UserError */
function readAsked(flags: FlagValues): { readonly load: AskedLoad; readonly files: OutputFilesPlan } {
  const problems: Problem[] = [...flags.problems];
  const concurrency = readAmount(flags, "doctor", "users", problems);
  const ratePerSec = readAmount(flags, "doctor", "rate", problems);
  const url = readUrl(flags, problems);
  const files = readFiles(flags, sharedOptions("doctor"), [], problems);
  if (problems.length > 0) throw new UserError(problems);
  const load = {
    protocol: flags.value("protocol") as AskedLoad["protocol"],
    ...defined({ concurrency, ratePerSec }),
    ...url,
  };
  return { load, files };
}

function readUrl(flags: FlagValues, problems: Problem[]): Pick<AskedLoad, "host" | "port"> {
  const named = flags.text("url");
  const [text = named] = flags.positionals;
  if (text === undefined) return {};
  if (named !== undefined && named !== text)
    problems.push(problem("conflict", "--url", "the argument is an address too", "Give one of them.", named));
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === "" || !/^(?:http|grpc)s?:$/.test(url.protocol)) {
    problems.push(
      problem(
        "invalid-value",
        named === undefined ? "the URL" : "--url",
        "is not an address",
        "Write host:port or http://host:port.",
        text,
      ),
    );
    return {};
  }
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port };
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} [URL] [options]`],
    about: [
      "Looks at this host before a measurement: clock, timers, cores, limits and caches, and how many requests per second it can send, which takes a few seconds. Prints the problems (the asked load is impossible) and warnings (numbers can be distorted, or requests can fail) with what to do, and what limits this host. With -v also the checks that are ok, and those that this system does not report (unknown).",
    ],
    flags: FLAGS,
    examples: [`${command} gpu-host:8000 --users 2000`],
    exitCodes: "0 no problem, 65 a problem, 64 a mistake in the options, 74 the findings could not be written.",
  };
}
