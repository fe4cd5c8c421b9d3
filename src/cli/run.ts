import { fileURLToPath } from "node:url";
import type { AssertionPlan } from "../plan/assertions.ts";
import { functionsOf } from "../plan/functions.ts";
import { type NameOf, word } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import { type Problem, problem, UserError, wordError } from "../plan/problem.ts";
import { registerArguments } from "../plan/secrets.ts";
import { EXIT, withOutputFailure } from "../result/exit-codes.ts";
import { prepareSecondSignal } from "../runtime/process-end/second-signal.ts";
import type { Scenario } from "../scenario/define.ts";
import { isDataFile, type LoadedScenario, loadedFrom, loadScenario } from "../scenario/load-module.ts";
import { describeParameters, type ParameterHelp } from "../scenario/params/read-values.ts";
import type { FieldContext } from "../scenario/resolve.ts";
import type { FunctionsSource } from "../scenario/thread-functions.ts";
import type { PlanOverrides } from "../scenario/to-plan.ts";
import { commandOf } from "./command-usage.ts";
import { type CommandIo, type ExecuteOptions, executePlan } from "./execute.ts";
import { announceTime } from "./expected-time.ts";
import { explainErrors } from "./explain-errors.ts";
import type { Flag } from "./flags.ts";
import { guardIo } from "./guarded-io.ts";
import { asksHelp, DURATIONS_NOTE, type HelpPage, printsHelp } from "./help/page.ts";
import { inFleet } from "./in-fleet.ts";
import { type PlanValues, withPlanValues } from "./options/place.ts";
import { withoutErrorsOf, withoutExitOf } from "./scenario-errors.ts";
import { findUnusable } from "./scenarios/find-unusable.ts";
import type { SeveralRequest } from "./scenarios/joint.ts";
import type { RunRequest } from "./scenarios/parts.ts";
import { explainLater, openScenario, prepareScenario, SET_FLAG } from "./scenarios/prepare.ts";
import { runMadePlan } from "./scenarios/run-made-plan.ts";
import { findScenarios, flagsFor, partsOf, runParts, sweepScenario } from "./scenarios/several.ts";
import { inScenario, withNames } from "./setting-names.ts";
import { commandFlags, readShared } from "./shared-flags.ts";

/** `rampart run x.ts`, and a scenario that is the main module. */

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("run", [SET_FLAG]);

/** The command. */
export const COMMAND = commandOf(FLAGS, runScenarioCommand, { name: "SCENARIO.ts", takes: "file" });

/** Runs `rampart run`. Returns the exit code. */
export async function runScenarioCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async (parse) => {
    const given = parse(FLAGS, args, Number.POSITIVE_INFINITY);
    const found: Problem[] = [];
    const files = findScenarios(given.positionals, found);
    const [file] = files;
    const flags = file === undefined || files.length > 1 ? given : flagsFor(file, given);
    if (asksHelp(flags)) {
      const page =
        file === undefined
          ? helpPage(`${command} SCENARIO.ts…`)
          : scenarioPage(`${command} ${file}`, await loadScenario(file, await io.loadApi(), io.err));
      printsHelp(flags, page, io);
      return EXIT.passed;
    }
    const hint = `Write ${command} FILE, such as ${command} first.ts, or make a scenario with rampart init.`;
    const problems: Problem[] =
      flags.positionals.length === 0 ? [problem("missing", "SCENARIO", "no scenario is given", hint)] : found;
    problems.push(...flags.problems);
    if (files.length > 1) {
      const { runSeveral } = await import("./scenarios/joint.ts");
      return runSeveral({ files, flags, problems, command, run: runOneFile }, io);
    }
    const values = readShared(flags, "run", problems);
    if (file === undefined) throw new UserError(problems);
    if (flags.has("sweep") && problems.length === 0) return runFile(file, { flags, values, problems }, io);
    const run = (fleetValues: PlanValues): Promise<number> =>
      runFile(file, { flags, values: fleetValues, problems }, io);
    return flags.has("dry-run") || problems.length > 0 ? run(values) : inFleet(values, io, run);
  });
}

const runOneFile: SeveralRequest["run"] = (file, given, io, watched) => {
  const flags = flagsFor(file, given);
  const problems: Problem[] = [];
  return runFile(file, { flags, values: readShared(flags, "run", problems), problems, ...watched }, io);
};

/** Runs a scenario, or sweeps it. */
async function runFile(file: string, request: RunRequest, io: CommandIo): Promise<number> {
  if (!request.flags.has("sweep") || request.problems.length > 0) return runPlainFile(file, request, io);
  const { scenario } = await loadScenario(file, await io.loadApi(), io.err);
  return sweepScenario(scenario, request, (point, pointIo) => runPlainFile(file, point, pointIo), io);
}

function runPlainFile(file: string, request: RunRequest, io: CommandIo): Promise<number> {
  return openScenario(file, request.problems, io, (loaded) => runLoaded(loaded, request, io));
}

/** Runs a scenario whose module is the main module. Returns the exit code. */
export async function runEntryScenario(
  scenario: Scenario,
  url: URL,
  args: readonly string[],
  rawIo: CommandIo,
): Promise<number> {
  registerArguments(args);
  const io = withNames(guardIo(rawIo), inScenario);
  const file = fileURLToPath(url);
  return explainErrors(file, io, async (parse) => {
    const loaded = loadedFrom(scenario, file, file);
    const flags = parse(FLAGS, args, 0);
    if (asksHelp(flags) && printsHelp(flags, scenarioPage(file, loaded), io)) return EXIT.passed;
    const problems: Problem[] = [...flags.problems];
    const values = readShared(flags, "run", problems);
    const run = (request: RunRequest, runIo: CommandIo): Promise<number> =>
      withoutExitOf(file, () => runLoaded(loaded, request, runIo)).catch((error: unknown) => {
        throw explainLater(error, loaded);
      });
    if (flags.has("sweep") && problems.length === 0) return sweepScenario(loaded.scenario, { flags }, run, io);
    return run({ flags, values, problems }, io);
  }).then((code) => withOutputFailure(code, io));
}

/** If the option was given, a wrong address is the option's. */
const withUrl: NameOf = (path) => (path === "target.url" ? "--url" : inScenario(path));
const isOfUrl = ({ path }: Problem): boolean => word(path, withUrl) === "--url";

async function runLoaded(loaded: LoadedScenario, request: RunRequest, scenarioIo: CommandIo): Promise<number> {
  const { flags, problems, watch } = request;
  const hasUrl = flags.texts("url").length > 0;
  const io = hasUrl ? withNames(scenarioIo, withUrl) : scenarioIo;
  const place = (found: Problem): Problem => (hasUrl && isOfUrl(found) ? found : loaded.place(found));
  const prepared = prepareScenario(loaded, flags, problems);
  const { hooks, context, folder, overrides, limits, lateFields } = prepared;
  const onlyPlans = flags.has("dry-run") || watch?.onPlan !== undefined;
  const run = (runContext: FieldContext, runIo: CommandIo): Promise<number> => {
    const runPart = (partOverrides: PlanOverrides, asked: RunRequest, partIo: CommandIo): Promise<number> => {
      const plan = prepared.plan(runContext, partOverrides, planChange({ values: asked.values, limits }));
      // The files of a plan that is not run may be created by `setup`.
      const unusable = hooks === undefined || !onlyPlans ? findUnusable(plan).map(place) : [];
      if (unusable.length > 0) throw wordError(new UserError(unusable), io.nameOf);
      return runPlan(
        plan,
        { folder, context: runContext, overrides: { ...overrides, ...partOverrides } },
        { ...asked, place },
        partIo,
      );
    };
    const parts = partsOf(prepared.resolved(runContext));
    return parts === undefined ? runPart({}, request, runIo) : runParts(parts, request, runPart, runIo);
  };
  // A plan is known without a server, unless a field needs the result of `setup`.
  if (hooks === undefined || (onlyPlans && lateFields.length === 0))
    return run({ ...context, started: { value: undefined } }, io);
  prepared.checkEarly();
  if (watch?.onPlan !== undefined) return EXIT.passed;
  await prepareSecondSignal();
  const { runWithHooks } = await import("./run-hooks.ts");
  return runWithHooks(hooks, { params: context.values, file: context.file, path: context.path }, io, (value, hookIo) =>
    run({ ...context, started: { value } }, hookIo),
  );
}

/** Runs a plan, or prints it. */
async function runPlan(
  plan: Plan,
  functions: FunctionsSource,
  { flags, watch, onReport, place }: RunRequest & Pick<ExecuteOptions, "place">,
  io: CommandIo,
): Promise<number> {
  const { file } = functions.context;
  const notation = isDataFile(file) ? "data" : "code";
  const code = await runMadePlan(plan, { flags, watch, notation }, io, async (reportIo) => {
    if (!flags.has("quiet") && watch === undefined) announceTime(plan, notation, io);
    if (functionsOf(plan).size > 0) await prepareSecondSignal();
    const executed = executePlan(plan, reportIo, {
      ...{ functions, ...(watch?.peers && { peers: watch.peers }) },
      watch: watch ?? (onReport && { followsTime: true, onReport: (_, json) => onReport(json) }),
      place,
    });
    return withoutErrorsOf(file, executed);
  });
  if (flags.has("dry-run") && watch?.onPlan === undefined) announceTime(plan, notation, io);
  return code;
}

/** Changes of flags to a plan. */
export interface PlanChanges {
  readonly values: PlanValues;
  /** Assertions in addition to those of the plan. */
  readonly limits: readonly AssertionPlan[];
}

/** Returns a function that adds the values of flags to a plan; undefined if there are none. */
export function planChange({ values, limits }: PlanChanges): ((plan: Plan) => Plan) | undefined {
  if (values.size + limits.length === 0) return undefined;
  return (plan) => withPlanValues({ ...plan, assertions: [...plan.assertions, ...limits] }, values);
}

function scenarioPage(usage: string, { scenario }: LoadedScenario): HelpPage {
  const problems: Problem[] = [];
  const { params } = scenario.definition as { readonly params?: unknown };
  const parameters = describeParameters(params, problems);
  if (problems.length > 0) throw new UserError(problems);
  return helpPage(usage, parameters);
}

function helpPage(usage: string, parameters: readonly ParameterHelp[] = []): HelpPage {
  const rows = parameters.map(({ name, placeholder, variable, text }) => {
    return [`--set ${name}=${placeholder}`, `${text} Or in the environment: ${variable}.`] as const;
  });
  return {
    usage: [`${usage} [options]`],
    about: [
      "Runs a scenario: measures its server under its load and checks its assertions. A scenario is a TypeScript file (rampart init writes one), or YAML or JSON without code. Several, or a folder of them, run one after the other, with one verdict and one report of each kind; {name} in a file's name writes one for each scenario. rampart help scenarios is the guide.",
    ],
    ...(rows.length === 0 ? {} : { lists: [{ title: "Parameters of this scenario", rows }] }),
    flags: FLAGS,
    flagsNote: DURATIONS_NOTE,
    examples: [
      "rampart run load.ts              or: rampart load.ts",
      "rampart run load-tests/ --junit all.xml",
      "rampart run load.yaml --set users=32",
      "rampart run load.ts --url gpu-host:8000 --json run.json",
    ],
    exitCodes:
      "0 passed, 64 wrong usage, 65 an assertion failed, 66 unresolved: not stable, or too little was measured to decide, 69 server unreachable, stalled or failing, 74 a report could not be written, 130 interrupted, 1 internal error.",
  };
}
