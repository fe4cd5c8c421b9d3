import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { judge } from "../measure/verdicts.ts";
import type { Plan } from "../plan/plan.ts";
import { type Problem, UserError } from "../plan/problem.ts";
import { parseDurationNs } from "../plan/units.ts";
import type { RunResult } from "../run/observer.ts";
import type { Scenario } from "../scenario/define.ts";
import { type LoadedScenario, loadScenario } from "../scenario/load-module.ts";
import { type PlanOverrides, toPlan } from "../scenario/to-plan.ts";
import { type CommandIo, executePlan } from "./execute.ts";
import { EXIT, exitCodeOfResult, hasOnlyFailures } from "./exit-codes.ts";
import { explainErrors } from "./explain.ts";
import { type Flag, type FlagValues, formatFlags, HELP_FLAG, parseFlags } from "./flags.ts";
import { checkOutputFiles } from "./output-files.ts";

/** `rampart run x.ts`, and a scenario that is the program itself. */

const FLAGS: readonly Flag[] = [
  { name: "url", value: "URL", help: "Address of the server, instead of the scenario's." },
  { name: "json", value: "FILE", help: "Write the report as JSON, with histograms." },
  { name: "csv", value: "FILE", help: "Write perf_analyzer's CSV." },
  { name: "profile-export-file", value: "FILE", help: "Write every request as perf_analyzer's profile export." },
  {
    name: "client",
    value: "NAME",
    choices: ["own", "undici", "grpc-js"],
    help: "What sends the requests, instead of the scenario's choice.",
  },
  {
    name: "stall-timeout",
    value: "DURATION",
    help: 'A request without a byte for so long has failed, such as "10 s".',
  },
  { name: "live", help: "Show the state of the run on stderr while it lasts." },
  { name: "dry-run", help: "Print the plan as JSON and send nothing." },
  { name: "verbose", short: "v", help: "Print each window as it is measured." },
  HELP_FLAG,
];

/** `rampart run`. Returns the exit code. */
export async function runScenarioCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 1);
    if (flags.has("help")) {
      io.out(formatHelp(`${command} SCENARIO.ts`));
      return EXIT.passed;
    }
    const [file] = flags.positionals;
    const hint = `Write ${command} scenarios/quickstart.ts, or make one with rampart init.`;
    const missing: Problem[] = file === undefined ? [{ path: "SCENARIO", message: "no scenario is given", hint }] : [];
    const overrides = readOverrides(flags, missing);
    if (file === undefined) throw new UserError(missing);
    return runLoaded(await loadScenario(file, await io.loadApi()), overrides, flags.has("dry-run"), io);
  });
}

/** Runs a scenario whose module is the program itself. Returns the exit code. */
export async function runEntryScenario(
  scenario: Scenario,
  url: URL,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  const file = fileURLToPath(url);
  return explainErrors(file, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatHelp(file));
      return EXIT.passed;
    }
    return runLoaded({ scenario, folder: dirname(file) }, readOverrides(flags, []), flags.has("dry-run"), io);
  });
}

async function runLoaded(
  { scenario, folder }: LoadedScenario,
  overrides: PlanOverrides,
  isDryRun: boolean,
  io: CommandIo,
): Promise<number> {
  const plan = toPlan(scenario, folder, overrides);
  if (isDryRun) {
    io.out(`${JSON.stringify(plan, null, 2)}\n`);
    return EXIT.passed;
  }
  const result = await executePlan(plan, io, () =>
    io.err("rampart: interrupted, waiting for what is outstanding (Ctrl-C again ends at once)\n"),
  );
  if (result.error !== undefined) io.err(`rampart: ${result.error.message}. ${result.error.hint}\n`);
  else if (hasOnlyFailures(result)) {
    io.err(`rampart: all ${result.failedCount} requests failed: ${result.failures[0]?.example ?? ""}\n`);
    if (result.hint !== undefined) io.err(`rampart: ${result.hint}\n`);
  }
  return exitCodeOfResult(result, areAssertionsMet(plan, result));
}

function areAssertionsMet(plan: Plan, result: RunResult): boolean {
  const measured = result.levels.filter(({ window }) => window.requestCount + window.failedCount > 0);
  return plan.assertions.every((assertion) => judge(assertion, measured, plan.target.batchSize).isMet);
}

/** Reads the flags. Throws {@link UserError} with everything that is wrong, `found` before included. */
function readOverrides(flags: FlagValues, found: readonly Problem[]): PlanOverrides {
  const csvFile = flags.text("csv");
  const jsonFile = flags.text("json");
  const profileExportFile = flags.text("profile-export-file");
  const problems: Problem[] = [
    ...found,
    ...flags.problems,
    ...checkOutputFiles([
      ["--csv", csvFile],
      ["--json", jsonFile],
      ["--profile-export-file", profileExportFile],
    ]),
  ];
  const stallTimeout = flags.text("stall-timeout");
  const stallTimeoutNs = stallTimeout === undefined ? undefined : parseDurationNs(stallTimeout);
  if (stallTimeout !== undefined && (stallTimeoutNs === undefined || stallTimeoutNs === 0)) {
    const hint = 'Give a duration with its unit, such as "10 s".';
    problems.push({ path: "--stall-timeout", message: "is not a duration", value: stallTimeout, hint });
  }
  if (problems.length > 0) throw new UserError(problems);
  return {
    url: flags.text("url"),
    client: flags.text("client") as Plan["client"]["kind"] | undefined,
    stallTimeoutMs: stallTimeoutNs === undefined ? undefined : stallTimeoutNs / 1e6,
    verbosity: flags.has("verbose") ? 1 : 0,
    csvFile,
    jsonFile,
    profileExportFile,
    isLive: flags.has("live"),
  };
}

function formatHelp(usage: string): string {
  return [
    `Usage: ${usage} [flags]`,
    "",
    "Runs a scenario: measures its target under its load and judges its assertions.",
    "",
    formatFlags(FLAGS),
    "",
    "Exit codes: 0 passed, 64 wrong usage, 65 an assertion failed, 66 not stable, 69 target unreachable, stalled or failing,",
    "130 interrupted, 1 internal error.",
    "",
  ].join("\n");
}
