import { dirname, resolve } from "node:path";
import type { NameOf, SettingPath } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, RunError, UserError } from "../../plan/problem.ts";
import { maskText, registerHeaders } from "../../plan/secrets.ts";
import { escapeControls } from "../../plan/terminal-text.ts";
import { describeTime, estimateAllRuns } from "../../registry/run-time.ts";
import type { ServerTargetPlan } from "../../registry/service-kinds.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { probeModels } from "../../run/open/probe.ts";
import { scenarioOf } from "../../scenario/define.ts";
import { input } from "../../scenario/inputs.ts";
import { hold } from "../../scenario/loads/levels.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import type { ListedModel } from "../../service/service.ts";
import { detectServer } from "../../wizard/detect.ts";
import { findTokenizer, findTokenizerProblem, suggestTokenizer } from "../../wizard/tokenizer.ts";
import { chooseModel } from "../choose-model.ts";
import { commandOf, type LoadedCommand } from "../command-usage.ts";
import type { CommandIo } from "../execute.ts";
import { explainErrors } from "../explain-errors.ts";
import { explainQuery } from "../failure-hints.ts";
import { type Flag, type FlagValues, parseFlags } from "../flags.ts";
import { DURATIONS_NOTE, type HelpPage, printsHelp } from "../help/page.ts";
import { inFleet } from "../in-fleet.ts";
import { quote } from "../init-command-lines.ts";
import type { PlanValues } from "../options/shared-option.ts";
import { sharedNameOf } from "../options/shared-options.ts";
import { routeTextAroundReports, silent } from "../output-files.ts";
import { changePlan, type PlanChanges } from "../run.ts";
import { readLimits } from "../scenarios/given-load.ts";
import { type FlagsOfFields, inFlags, runMadePlan } from "../scenarios/made-plan.ts";
import { writeNewScenario } from "../scenarios/new-scenario.ts";
import { inScenario, withNames } from "../setting-names.ts";
import { commandFlags, readShared } from "../shared-flags.ts";
import { COMMAND_OF, COMMON_FLAGS, URL_KINDS, type UrlKind } from "./kinds.ts";
import { readSettings, type UrlSettings } from "./settings.ts";
import { type Found, makeScenario, makeTarget } from "./to-scenario.ts";

/** `rampart llm URL` and `rampart triton URL`: find out what answers, and measure it without a file. */

/** Returns the options of one of the commands. */
export function flagsOf(name: UrlKind["name"]): readonly Flag[] {
  return commandFlags(name, COMMON_FLAGS);
}

/** Returns one of the commands. */
export function urlCommand(name: UrlKind["name"]): LoadedCommand {
  const kind = URL_KINDS[name];
  const flags = flagsOf(name);
  return commandOf(flags, (args, command, io) => runUrlCommand({ kind, flags }, args, command, io), {
    name: "URL",
    takes: "word",
  });
}

interface Door {
  readonly kind: UrlKind;
  readonly flags: readonly Flag[];
}

async function runUrlCommand(door: Door, args: readonly string[], command: string, rawIo: CommandIo): Promise<number> {
  const { kind } = door;
  const io = withNames(rawIo, namesIn(kind));
  return explainErrors(command, io, async () => {
    const flags = parseFlags(door.flags, args, 1);
    if (printsHelp(flags, helpPage(door, command), io)) return EXIT.passed;
    const problems: Problem[] = [...flags.problems];
    const settings = readSettings(flags, kind, problems);
    const limits = readLimits(flags, problems);
    const shared = readShared(flags, kind.name, problems);
    if (problems.length > 0) throw new UserError(problems);
    const run = (values: PlanValues): Promise<number> =>
      new UrlRun(kind, settings, flags, io).measure({ values, limits }, `${command} ${args.map(quote).join(" ")}`);
    return flags.has("dry-run") ? run(shared) : inFleet(shared, io, run);
  });
}

/** One run of the command. */
class UrlRun {
  private readonly kind: UrlKind;
  private readonly settings: UrlSettings;
  private readonly flags: FlagValues;
  private readonly io: CommandIo;

  constructor(kind: UrlKind, settings: UrlSettings, flags: FlagValues, io: CommandIo) {
    this.kind = kind;
    this.settings = settings;
    this.flags = flags;
    this.io = io;
  }

  /** Finds out about the server, and measures it. @param commandLine the whole command, to repeat it. Returns the exit code */
  async measure(given: PlanChanges, commandLine: string): Promise<number> {
    const { kind, settings, flags, io } = this;
    const { save } = settings;
    const isDry = flags.has("dry-run");
    try {
      const found = await this.find();
      const { scenario, text } = makeScenario(kind, settings, found);
      const folder = save === undefined ? process.cwd() : dirname(resolve(save));
      const plan = changePlan(toPlan(scenario, folder), given);
      if (save !== undefined && !isDry) this.save(save, text);
      const time = estimateAllRuns(plan);
      if (!isDry && time !== undefined) this.say(describeTime(time));
      const code = await runMadePlan(plan, flags, io);
      if (!isDry && code !== EXIT.unreachable && code !== EXIT.interrupted) this.sayHowToRepeat(plan, commandLine);
      return code;
    } catch (error) {
      throw inFlags(error, namesIn(kind), FIELDS);
    }
  }

  /** Finds the server, its model and its tokenizer. */
  private async find(): Promise<Found> {
    const { kind, settings } = this;
    const { text, ...place } = await this.findServer();
    const models = await this.listModels(place);
    const model = this.findModel(models);
    const tokenizer = kind.hasTokens === true ? await this.findTokenizer(model) : undefined;
    const shapes = settings.shapes ?? usualShapes(model);
    const words = tokenizer === undefined || tokenizer === "none" ? "" : `, tokenizer ${tokenizer}`;
    this.say(`${text === "" ? "" : `${text.replace(/\.$/, "")}; `}model ${model.name}${words}.`);
    return {
      ...place,
      model: model.name,
      ...(tokenizer === undefined ? {} : { tokenizer }),
      ...(shapes === "" ? {} : { shapes }),
    };
  }

  private async findServer(): Promise<Pick<Found, "url" | "protocol"> & { readonly text: string }> {
    const { kind, settings } = this;
    const detection = await detectServer(settings.url, kind.target);
    const { detected, url = settings.url, text = "" } = detection ?? {};
    const command = detected && COMMAND_OF[detected.target];
    const isKind = command === kind.name;
    // A server that asks for a key does not show its API without it.
    if (!isKind && (command !== "http" || kind.hidesApi !== true)) throw otherServer(kind, url, text, command);
    const protocol = detected === undefined ? {} : { protocol: detected.protocol };
    return { url, ...protocol, text: isKind ? text : "" };
  }

  /** Asks the server for its models; none where it cannot say them and the user names one. */
  private async listModels(place: Pick<Found, "url" | "protocol">): Promise<readonly ListedModel[]> {
    const { kind, settings, io } = this;
    const { model = "" } = settings;
    const target = makeTarget(kind, settings, { ...place, model: "any" });
    const inputs = kind.hasTokens === true ? { inputs: input.prompts({ isl: 1, osl: 1 }) } : {};
    const plan = toPlan(scenarioOf({ name: kind.name, target, load: hold(1), ...inputs }), process.cwd());
    return probeModels({ ...(plan.target as ServerTargetPlan), model } as ServerTargetPlan).catch(
      async (error: unknown) => {
        if (settings.model !== undefined && error instanceof RunError) return [];
        throw withModelHint(await explainQuery(plan, error, io.nameOf));
      },
    );
  }

  private findModel(models: readonly ListedModel[]): Pick<ListedModel, "name" | "tokenizer" | "inputs"> {
    const { model: name, url } = this.settings;
    const usable = models.filter(({ refusal }) => refusal === "");
    const [refused] = models;
    if (name === undefined && refused !== undefined && usable.length === 0) {
      const message = `${url} has no model that can be measured: ${refused.name}: ${refused.refusal}`;
      throw new RunError("refused", message, "Load one on the server.");
    }
    const wanted = name ?? chooseModel(usable.map((one) => one.name));
    const model = models.find((one) => one.name === wanted);
    if (model === undefined && models.length > 0) {
      const hint = `Give one of ${usable
        .slice(0, 20)
        .map((one) => one.name)
        .join(", ")}.`;
      throw new UserError(problem("unknown-name", "--model", "is not ready on the server", hint, wanted));
    }
    if (model !== undefined && model.refusal !== "")
      throw new UserError(
        problem("unsupported", "--model", `cannot be measured: ${model.refusal}`, "Give another.", wanted),
      );
    return model ?? { name: wanted, inputs: [] };
  }

  private async findTokenizer(model: Pick<ListedModel, "name" | "tokenizer">): Promise<string> {
    const { tokenizer } = this.settings;
    if (tokenizer === undefined) {
      const { name, text, isRefused } = await findTokenizer(model);
      // Without any, the run's own warning says enough.
      if (text !== undefined && isRefused === true) this.say(text);
      return name;
    }
    const message = await findTokenizerProblem(tokenizer);
    if (message === undefined) return tokenizer;
    const hint = `${await suggestTokenizer(tokenizer)}Give a folder with tokenizer.json, an encoding, or none.`;
    throw new UserError(problem("unreadable", "--tokenizer", message, hint, tokenizer));
  }

  private save(file: string, text: string): void {
    const headers = Object.entries(this.settings.headers);
    registerHeaders(headers);
    if (headers.some(([, value]) => maskText(value) !== value)) {
      const hint = "Give the key with --api-key-env, or leave --save out.";
      throw new UserError(problem("conflict", "--save", "would write the key of --header into a file", hint, file));
    }
    writeNewScenario(file, text, "--save");
  }

  /** Says a sentence beside the report. */
  private say(text: string): void {
    if (!this.flags.has("quiet")) this.io.err(`${escapeControls(maskText(text))}\n`);
  }

  private sayHowToRepeat({ outputs }: Plan, commandLine: string): void {
    const { settings, flags, io } = this;
    const to = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, { ...outputs.files });
    const text =
      settings.save === undefined
        ? `repeat it with: ${maskText(commandLine)}\n(--save FILE.ts writes it as a scenario)`
        : `wrote ${settings.save}; repeat it with: rampart run ${quote(settings.save)}`;
    // The report says what to change in a scenario's words.
    const more = "(--users N searches up to N users, --for DURATION measures each number of them longer)\n";
    to.out(`\n${settings.slos.length > 0 ? more : ""}${text}\n`);
  }
}

/** A server that lists no models can be measured by the name of one. */
function withModelHint(error: unknown): unknown {
  if (!(error instanceof RunError) || error.code === "unreachable" || error.facts.failure !== undefined) return error;
  return error.reword(error.text, "Give --model NAME, if it is such a server and has no list of models.");
}

/** Returns the shapes of inputs with variable shape: 1 for each size that is not fixed, as --shapes takes them. */
function usualShapes({ inputs }: Pick<ListedModel, "inputs">): string {
  return inputs
    .filter(({ shape, isOptional }) => !isOptional && shape.some((size) => size < 0))
    .map(({ name, shape }) => `${name}:${shape.map((size) => (size < 0 ? 1 : size)).join(",")}`)
    .join(" ");
}

/** Says what is at the address instead. @param command the one that measures it. Undefined: none does, or nothing is there */
function otherServer({ server }: UrlKind, url: string, text: string, command: string | undefined): RunError {
  const what = text.replace(/\.$/, "");
  if (/^Nothing/.test(what))
    return new RunError("unreachable", what, "Is the server running, and is this its address?");
  const hint =
    command === undefined
      ? "Correct the address, or write a scenario with rampart init."
      : `Write rampart ${command} ${url}.`;
  const isKnown = command !== undefined && command !== "http";
  return new RunError("refused", isKnown ? `${what}, and not ${server}` : what, hint);
}

/** What settings are called here. */
const NAMES: Readonly<Partial<Record<SettingPath, string>>> = {
  "inputs.tokenizer": "--tokenizer",
  "target.apiKeyEnv": "--api-key-env NAME (the environment variable that holds it)",
  "target.model": "--model",
  "target.shapes": "--shapes",
  "target.tls=trusting-grpc": 'tls: { ca: "FILE" } in a scenario',
  "target.tls=trusting-http": 'tls: { ca: "FILE" } in a scenario',
  "target.tls=true": "write https:// before the address",
  "target.tls=unverified-http": "--insecure",
  "target.url": "the URL",
  "target.url=http": "write http:// before the address",
  "target.url=https": "write https:// before the address",
};

function namesIn({ name }: UrlKind): NameOf {
  return (path) => NAMES[path] ?? sharedNameOf(name, path) ?? inScenario(path);
}

const FIELDS: FlagsOfFields = [
  [/^target\.(url|moreUrls)\b.*/, "URL"],
  [/^target\.headers\./, "--header "],
  [/^target\.(model|shapes|apiKeyEnv)\b.*/, "--$1"],
  [/^inputs\.(isl|osl)\b.*/, "--$1"],
  [/^load\.where\b.*/, "--slo"],
  [/^load\b.*/, "--users"],
  [/^assert\b.*/, "--fail-if"],
];

function helpPage({ kind, flags }: Door, command: string): HelpPage {
  return {
    usage: [`${command} URL [options]`],
    about: [kind.about],
    flags,
    flagsNote: DURATIONS_NOTE,
    examples: kind.examples.map((example) => `${command} ${example}`),
    exitCodes:
      "0 passed, 64 wrong usage, 65 no number of users keeps --slo, or a limit of --fail-if is broken, 66 undecided, 69 server unreachable, failing or of another kind, 74 a report could not be written, 130 interrupted, 1 internal error.",
  };
}
