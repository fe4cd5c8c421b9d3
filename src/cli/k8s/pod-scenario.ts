import { resolve } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import { collect, type Problem, problem, UserError } from "../../plan/problem.ts";
import { HIDDEN_VALUE } from "../../plan/secrets.ts";
import { textsIn } from "../../registry/input-files.ts";
import { membersOf } from "../../registry/mix.ts";
import { targetKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { outputFilesOf } from "../../report/output-place.ts";
import { type LoadedScenario, loadScenario } from "../../scenario/load-module.ts";
import { describeParameters, readParameters } from "../../scenario/params/read-values.ts";
import { fieldsAfterSetup, resolveFields } from "../../scenario/resolve.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import type { CommandIo } from "../execute.ts";
import type { FlagValues } from "../flags.ts";
import type { PlanValues } from "../options/place.ts";
import { STDOUT_FILE } from "../options/shared-option.ts";
import { planChange } from "../run.ts";
import { withoutExitOf } from "../scenario-errors.ts";
import { readGivenLoad, readLimits, withGivenLoad } from "../scenarios/given-load.ts";
import { checkSizes, findScenarioFiles, type ScenarioFiles } from "./pod-files.ts";

/** The scenario of a manifest: its plan in the pods, and everything that the pods need for it. */

/** Everything that the pods need for a scenario. */
export interface PodScenario extends ScenarioFiles {
  readonly plan: Plan;
  /** Environment variables with parameters and keys. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values of `--set` that are not secret. */
  readonly sets: readonly string[];
}

/** Placeholder for the cluster's bus when the plan is checked. */
const ANY_BUS = "nats://bus:4222";

/**
 * Loads a scenario and finds everything that it needs, without contacting its server.
 * @param values values of the run's options for its plan
 * @param problems receives all problems
 * @returns undefined if there are any
 */
export async function readPodScenario(
  file: string,
  flags: FlagValues,
  values: PlanValues,
  problems: Problem[],
  io: CommandIo,
): Promise<PodScenario | undefined> {
  let loaded: LoadedScenario;
  try {
    loaded = await loadScenario(file, await io.loadApi(), io.err);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
  return withoutExitOf(file, async () => {
    const found: Problem[] = [];
    const scenario = readLoaded(loaded, flags, values, found);
    problems.push(...found.map((one) => loaded.place(one)));
    return scenario;
  });
}

function readLoaded(
  { scenario, file, folder }: LoadedScenario,
  flags: FlagValues,
  values: PlanValues,
  problems: Problem[],
): PodScenario | undefined {
  const { params, setup } = scenario.definition as { readonly params?: unknown; readonly setup?: unknown };
  const sets = flags.texts("set");
  const read = readParameters(params, { sets, env: process.env }, problems);
  const load = readGivenLoad(flags, "run", problems);
  const limits = readLimits(flags, problems);
  const late = setup === undefined ? [] : fieldsAfterSetup(scenario);
  problems.push(...late.map(needsSetup));
  if (problems.length > 0) return undefined;
  const path = resolve(file);
  const given = collect(problems, () => {
    const fields = resolveFields(scenario, { values: read.values, started: { value: undefined }, file, path });
    return load === undefined ? fields : withGivenLoad(fields, load);
  });
  if (given === undefined) return undefined;
  const client = flags.text("client") as Plan["client"]["kind"] | undefined;
  const overrides = { urls: flags.texts("url"), client };
  const onBus = new Map([...values, ["client.bus.url", values.get("client.bus.url") ?? ANY_BUS] as const]);
  const plan = collect(problems, () => toPlan(given, folder, overrides, planChange({ values: onBus, limits })));
  if (plan === undefined) return undefined;
  problems.push(...checkOutputs(plan), ...checkTargets(plan));
  const written = textsIn(given.definition);
  const files = collect(problems, () => findScenarioFiles(path, plan, written));
  if (files === undefined) return undefined;
  problems.push(...checkSizes(file, files.files));
  const collector = flags.text("otlp") === "env" ? ["OTEL_EXPORTER_OTLP_ENDPOINT"] : [];
  const names = [...new Set([...flags.texts("env"), ...keyNamesIn(given.definition), ...collector])];
  problems.push(...names.flatMap(checkVariable));
  const parameters = describeParameters(params, []).flatMap(({ name, variable }) => {
    const { value, from } = read.plan[name] ?? {};
    const isHidden = from === "environment" || (value === HIDDEN_VALUE && from === "command line");
    return isHidden ? [{ name, variable, text: String(read.values[name]) }] : [];
  });
  return {
    ...files,
    plan,
    variables: Object.fromEntries([
      ...names.map((name) => [name, process.env[name] ?? ""] as const),
      ...parameters.map(({ variable, text }) => [variable, text] as const),
    ]),
    sets: sets.filter((set) => !parameters.some(({ name }) => set === name || set.startsWith(`${name}=`))),
  };
}

function checkVariable(name: string): Problem[] {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return [problem("invalid-value", "--env", "is not the name of a variable", "Give one such as LLM_KEY.", name)];
  if ((process.env[name] ?? "") !== "") return [];
  return [problem("missing", name, "the pods need this variable of the environment", `Set it: ${name}=… rampart …`)];
}

/** Checks that the target has an address, because agents share it. */
function checkTargets({ target }: Plan): Problem[] {
  const targets = [target, ...membersOf(target).map((member) => member.target)];
  const isAlone = targets.some((one) => targetKindOf(one).isInProcess === true) || urlsOf(target).length === 0;
  const hint = "Give the target's address in the cluster.";
  return isAlone
    ? [problem("unsupported", "target", "runs inside one process, and the pods cannot share it", hint)]
    : [];
}

function needsSetup(field: string): Problem {
  const message = "depends on what setup returns, which is not known before the pods run";
  return problem("unsupported", field, message, "Make it a function of the parameters alone.");
}

/** Checks outputs: a pod's files are deleted when it ends. */
function checkOutputs(plan: Plan): Problem[] {
  return outputFilesOf(plan).flatMap(([name, path]) => {
    if (path === undefined || path === STDOUT_FILE) return [];
    const hint = "Give - for the log of the pod, or leave it out.";
    return [problem("unsupported", name, "would be a file of a pod, which ends with it", hint, path)];
  });
}

/** Returns the environment variables for API keys in a definition (`apiKeyEnv`). */
function keyNamesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name === "apiKeyEnv" && typeof field === "string" ? [field] : keyNamesIn(field),
  );
}

/** Returns the addresses of a plan's targets that refer to each pod's own host. */
export function ownAddressesOf({ target }: Plan): string[] {
  return urlsOf(target).filter((url) => /^(?:\w+:\/\/)?(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/i.test(url));
}
