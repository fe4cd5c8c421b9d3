import { dirname, resolve } from "node:path";
import { SpareThreads } from "../../measure/tokens/token-link.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { maskText, registerHeaders } from "../../plan/secrets.ts";
import { escapeControls } from "../../plan/terminal-text.ts";
import { describeTime, estimateAllRuns } from "../../registry/estimate-time.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import type { LoadedCommand } from "../command-usage.ts";
import { type CommandIo, executePlan, type PointWatch } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import { silent, toTerminal } from "../guarded-io.ts";
import { DURATIONS_NOTE, type HelpPage } from "../help/page.ts";
import { inFleet } from "../in-fleet.ts";
import { quote } from "../init-command-lines.ts";
import type { PlanValues } from "../options/place.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { type PlanChanges, planChange } from "../run.ts";
import { readLimits } from "../scenarios/given-load.ts";
import { writeNewScenario } from "../scenarios/new-scenario.ts";
import { type FlagsOfFields, inFlags, runMadePlan } from "../scenarios/run-made-plan.ts";
import { runSweep } from "../scenarios/several.ts";
import type { SweepDoor } from "../scenarios/sweep.ts";
import { namesAtUrl } from "../setting-names.ts";
import { commandFlags, readShared } from "../shared-flags.ts";
import { findServer } from "./find-server.ts";
import { COMMON_FLAGS, URL_KINDS, type UrlKind } from "./kinds.ts";
import { readSettings, type UrlSettings } from "./settings.ts";
import { type Found, makeScenario } from "./to-scenario.ts";

/** `rampart llm URL` and `rampart triton URL`: identify the server at an address, and measure it without a file. */

/** Returns the options of one of the commands. */
export function flagsOf(name: UrlKind["name"]): readonly Flag[] {
  return commandFlags(name, COMMON_FLAGS);
}

/** Returns one of the commands. */
export function urlCommand(name: UrlKind["name"]): LoadedCommand {
  const kind = URL_KINDS[name];
  return flagCommand({
    page: (command) => helpPage(kind, command),
    ...{ operand: { name: "URL", takes: "word" }, nameOf: namesAtUrl(name) },
    run: (flags, io) => runUrlCommand(kind, flags, io),
  });
}

async function runUrlCommand(kind: UrlKind, flags: FlagValues, io: CommandIo): Promise<number> {
  const spare = new SpareThreads();
  try {
    return await runWith(spare, { kind, flags }, io);
  } finally {
    await spare.close();
  }
}

/** @param spare token threads with the tokenizers that were found */
async function runWith(
  spare: SpareThreads,
  { kind, flags }: Pick<UrlRequest, "kind" | "flags">,
  io: CommandIo,
): Promise<number> {
  const find = findOnce({ kind, flags, spare }, io);
  if (flags.has("sweep")) {
    const runPoint: SweepDoor["runPoint"] = (pointFlags, pointIo, watch) => {
      const { settings, given } = readFlags(kind, pointFlags);
      return new UrlRun({ kind, settings, flags: pointFlags, find, spare }, pointIo).runPoint(given, watch);
    };
    return runSweep(flags, { door: kind.name, parameters: [], runPoint }, io);
  }
  const { settings, given } = readFlags(kind, flags);
  const run = (values: PlanValues): Promise<number> =>
    new UrlRun({ kind, settings, flags, find, spare }, io).measure({ ...given, values });
  return flags.has("dry-run") ? run(given.values) : inFleet(given.values, io, run);
}

interface ReadFlags {
  readonly settings: UrlSettings;
  readonly given: PlanChanges;
}

/** Reads all options. @throws UserError with all problems */
function readFlags(kind: UrlKind, flags: FlagValues): ReadFlags {
  const problems: Problem[] = [...flags.problems];
  const settings = readSettings(flags, kind, problems);
  const limits = readLimits(flags, problems);
  const values = readShared(flags, kind.name, problems);
  if (problems.length > 0) throw new UserError(problems);
  return { settings, given: { values, limits } };
}

/** Finds the server, model and tokenizer. @param values of the plan, which determine the source addresses of connections */
type Find = (settings: UrlSettings, values: PlanValues) => Promise<Found>;

/** Returns a function that finds a server once for all points of a sweep with the same settings. */
function findOnce({ kind, flags, spare }: Pick<UrlRequest, "kind" | "flags" | "spare">, io: CommandIo): Find {
  // The run takes the thread, and need not load the tokenizer again.
  const loadTokenizer = (tokenizer: string): Promise<void> => spare.start({ tokenizer, revision: "main" });
  const known = new Map<string, Promise<Found>>();
  const say = (text: string): void => sayBeside(text, flags, io);
  return (settings, values) => {
    const sourceAddresses = values.get("client.sourceAddresses") as readonly string[] | undefined;
    const { url, model, tokenizer, shapes, headers, apiKeyEnv, isInsecure } = settings;
    const key = JSON.stringify([url, model, tokenizer, shapes, headers, apiKeyEnv, isInsecure, sourceAddresses]);
    const found =
      known.get(key) ??
      findServer(kind, settings, { client: defined({ sourceAddresses }), nameOf: io.nameOf, say, loadTokenizer });
    known.set(key, found);
    return found;
  };
}

/** Prints a sentence beside the report. */
function sayBeside(text: string, flags: FlagValues, io: CommandIo): void {
  // A secret must be masked before a line break comes into it.
  if (!flags.has("quiet")) io.err(`${toTerminal(escapeControls(maskText(text)), io)}\n`);
}

interface UrlRequest {
  readonly kind: UrlKind;
  readonly settings: UrlSettings;
  readonly flags: FlagValues;
  readonly find: Find;
  readonly spare: SpareThreads;
}

class UrlRun {
  private readonly request: UrlRequest;
  private readonly io: CommandIo;

  constructor(request: UrlRequest, io: CommandIo) {
    this.request = request;
    this.io = io;
  }

  /** Identifies the server, and measures it. Returns the exit code. */
  measure(given: PlanChanges): Promise<number> {
    const { settings, flags } = this.request;
    const { save } = settings;
    return this.inFlags(async () => {
      const { plan, text } = await this.makePlan(given);
      if (flags.has("dry-run")) return runMadePlan(plan, { flags }, this.io);
      if (save !== undefined) this.save(save, text);
      const time = estimateAllRuns(plan);
      if (time !== undefined) sayBeside(describeTime(time), flags, this.io);
      const code = await this.run(plan);
      if (code !== EXIT.unreachable && code !== EXIT.interrupted) this.sayHowToRepeat(plan);
      return code;
    });
  }

  /** Measures a point of a sweep, or only plans it. Returns the exit code. */
  runPoint(given: PlanChanges, watch: PointWatch): Promise<number> {
    return this.inFlags(async () => {
      const { plan } = await this.makePlan(given);
      return this.run(plan, watch);
    });
  }

  private run(plan: Plan, watch?: PointWatch): Promise<number> {
    const { flags, spare } = this.request;
    return runMadePlan(plan, { flags, watch }, this.io, (io) => executePlan(plan, io, { watch, spare }));
  }

  private async makePlan(given: PlanChanges): Promise<{ readonly plan: Plan; readonly text: string }> {
    const { kind, settings, find } = this.request;
    const { scenario, text } = makeScenario(kind, settings, await find(settings, given.values));
    const folder = settings.save === undefined ? process.cwd() : dirname(resolve(settings.save));
    return { plan: toPlan(scenario, folder, {}, planChange(given)), text };
  }

  /** Uses the command's option names in the errors of an action. */
  private inFlags<T>(run: () => Promise<T>): Promise<T> {
    const { kind } = this.request;
    return run().catch((error: unknown) => {
      throw inFlags(error, namesAtUrl(kind.name), FIELDS);
    });
  }

  private save(file: string, text: string): void {
    const headers = Object.entries(this.request.settings.headers);
    registerHeaders(headers);
    if (headers.some(([, value]) => maskText(value) !== value)) {
      const hint = "Give the key with --api-key-env, or leave --save out.";
      throw new UserError(problem("conflict", "--save", "would write the key of --header into a file", hint, file));
    }
    writeNewScenario(file, text);
  }

  private sayHowToRepeat({ outputs }: Plan): void {
    const { io } = this;
    const { settings, flags } = this.request;
    const to = flags.has("quiet") ? silent(io) : routeTextAroundReports(io, outputs.files);
    const text =
      settings.save === undefined
        ? "--save FILE.ts writes the scenario that repeats the run"
        : `wrote ${settings.save}; repeat it with: rampart run ${quote(settings.save)}`;
    const more = settings.slos.length === 0 ? [] : waysToSearchMore(flags);
    to.out(`\n${more.length === 0 ? "" : `(${more.join(", ")})\n`}${text}\n`);
  }
}

/** Returns the options not given that make the result of a search finer or more certain. */
function waysToSearchMore(flags: FlagValues): string[] {
  const users = flags.text("users");
  const isListed = users === undefined || users.includes(",");
  return [
    ...(isListed ? ["--users MIN:MAX searches between them in single steps"] : []),
    ...(flags.has("for") ? [] : ["--for DURATION measures each number of users longer"]),
  ];
}

const FIELDS: FlagsOfFields = [
  [/^target\.(url|moreUrls)\b.*/, "URL"],
  [/^target\.headers\./, "--header "],
  [/^target\.(model|shapes)\b.*/, "--$1"],
  [/^target\.apiKeyEnv\b.*/, "--api-key-env"],
  [/^inputs\.(isl|osl)\b.*/, "--$1"],
  [/^load\.where\b.*/, "--slo"],
  [/^load\b.*/, "--users"],
];

function helpPage(kind: UrlKind, command: string): HelpPage {
  return {
    usage: [`${command} URL [options]`],
    about: [kind.about],
    flags: flagsOf(kind.name),
    flagsNote: DURATIONS_NOTE,
    examples: kind.examples.map((example) => `${command} ${example}`),
    exitCodes:
      "0 passed, 64 wrong usage, 65 no number of users keeps --slo, or a limit of --fail-if is broken, 66 undecided, 69 server unreachable, failing or of another kind, 74 a report could not be written, 130 interrupted, 1 internal error.",
  };
}
