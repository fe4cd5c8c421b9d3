import type { NameOf } from "../../plan/messages.ts";
import { defined } from "../../plan/objects.ts";
import type { ClientPlan, Plan } from "../../plan/plan.ts";
import { problem, RunError, UserError } from "../../plan/problem.ts";
import type { ServerTargetPlan } from "../../registry/service-kinds.ts";
import { checkSources } from "../../run/host-limits.ts";
import { probeModels } from "../../run/open/probe.ts";
import { reachServers } from "../../run/open/reach-servers.ts";
import { scenarioOf } from "../../scenario/define.ts";
import { input } from "../../scenario/inputs.ts";
import { hold } from "../../scenario/loads/concurrency.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import type { ListedModel } from "../../service/service.ts";
import { detectServer } from "../../wizard/detect.ts";
import { usualShapes } from "../../wizard/questions.ts";
import { findTokenizer, findTokenizerProblem, suggestTokenizer, type TryTokenizer } from "../../wizard/tokenizer.ts";
import { chooseModel } from "../choose-model.ts";
import { explainQuery } from "../failure-hints.ts";
import { COMMAND_OF, isOfApi, type UrlKind } from "./kinds.ts";
import type { UrlSettings } from "./settings.ts";
import { type Found, makeTarget } from "./to-scenario.ts";

/** Identification of the server at an address, for `rampart llm` and `rampart triton`. */

/** Settings for queries to the server, and the output for messages. */
export interface FindIo {
  readonly client: Pick<ClientPlan, "sourceAddresses">;
  readonly nameOf: NameOf | undefined;
  /** Prints a sentence beside the report. */
  readonly say: (text: string) => void;
  /** Loads a tokenizer for the run. */
  readonly loadTokenizer: TryTokenizer;
}

/**
 * Finds the server, its model and its tokenizer.
 * @throws RunError if no server, or a server of another kind, responds
 * @throws UserError if the model or tokenizer does not exist, or if this host lacks a source address
 */
export async function findServer(kind: UrlKind, settings: UrlSettings, io: FindIo): Promise<Found> {
  await checkSources(io);
  return new Finder(kind, settings, io).find();
}

class Finder {
  private readonly kind: UrlKind;
  private readonly settings: UrlSettings;
  private readonly io: FindIo;

  constructor(kind: UrlKind, settings: UrlSettings, io: FindIo) {
    this.kind = kind;
    this.settings = settings;
    this.io = io;
  }

  async find(): Promise<Found> {
    const { kind, settings } = this;
    const { text, ...place } = await this.findServer();
    const models = await this.listModels(place);
    const model = this.findModel(models);
    const tokenizer = kind.hasTokens === true ? await this.findTokenizer(model) : undefined;
    const shapes = settings.shapes ?? usualShapes(model.inputs);
    const words = tokenizer === undefined || tokenizer === "none" ? "" : `, tokenizer ${tokenizer}`;
    this.io.say(`${text === "" ? "" : `${text.replace(/\.$/, "")}; `}model ${model.name}${words}.`);
    return {
      ...place,
      model: model.name,
      ...defined({ tokenizer }),
      ...(shapes === "" ? {} : { shapes }),
    };
  }

  private async findServer(): Promise<Pick<Found, "url" | "protocol"> & { readonly text: string }> {
    const { kind, settings } = this;
    const detection = await detectServer(settings.url, { wanted: kind.target, ...this.io.client });
    const { detected, url = settings.url, text = "" } = detection ?? {};
    const command = detected && COMMAND_OF[detected.target];
    const isKind = command === kind.name;
    const refused = /^Nothing/.test(text)
      ? await reachServers(this.planAt({ url: settings.url }).target as ServerTargetPlan, this.io.client)
      : undefined;
    if (refused !== undefined) throw refused;
    // A server that requires a key does not show its API without one.
    const showsNone = command !== undefined && !isOfApi(command);
    if (!isKind && !(showsNone && kind.hidesApi === true)) throw otherServer(kind, url, text, command);
    const protocol = detected === undefined ? {} : { protocol: detected.protocol };
    return { url, ...protocol, text: isKind ? text : "" };
  }

  /** Queries the server's models; empty if the server cannot list them and the user names one. */
  private async listModels(place: Pick<Found, "url" | "protocol">): Promise<readonly ListedModel[]> {
    const { settings } = this;
    const { client, nameOf } = this.io;
    const { model = "" } = settings;
    const plan = this.planAt(place);
    const asked = { ...(plan.target as ServerTargetPlan), model } as ServerTargetPlan;
    return probeModels(asked, client).catch(async (error: unknown) => {
      if (settings.model !== undefined && error instanceof RunError) return [];
      throw withModelHint(await explainQuery(plan, error, nameOf));
    });
  }

  /** Returns a plan to ask the server at an address. */
  private planAt(place: Pick<Found, "url" | "protocol">): Plan {
    const { kind, settings } = this;
    const target = makeTarget(kind, settings, { ...place, model: "any" });
    const inputs = kind.hasTokens === true ? { inputs: input.prompts({ isl: 1, osl: 1 }) } : {};
    return toPlan(scenarioOf({ name: kind.name, target, load: hold(1), ...this.io.client, ...inputs }), process.cwd());
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
      const { name, text, isRefused } = await findTokenizer(model, this.io.loadTokenizer);
      // Without any, the run's own warning says enough.
      if (text !== undefined && isRefused === true) this.io.say(text);
      return name;
    }
    const message = await findTokenizerProblem(tokenizer, this.io.loadTokenizer);
    if (message === undefined) return tokenizer;
    const hint = `${await suggestTokenizer(tokenizer)}Give a folder with tokenizer.json, an encoding, or none.`;
    throw new UserError(problem("unreadable", "--tokenizer", message, hint, tokenizer));
  }
}

/** A server that cannot list models can be measured if the model is named. */
function withModelHint(error: unknown): unknown {
  if (!(error instanceof RunError) || error.code === "unreachable" || error.facts.failure !== undefined) return error;
  return error.reword(error.text, "Give --model NAME, if it is such a server and has no list of models.");
}

/** Returns the error that describes what is at the address instead. @param command that measures it; undefined: none */
function otherServer({ server }: UrlKind, url: string, text: string, command: string | undefined): RunError {
  const what = text.replace(/\.$/, "");
  if (/^Nothing/.test(what))
    return new RunError("unreachable", what, "Is the server running, and is this its address?");
  const [, fact] = /^(.* does not speak TLS): /.exec(what) ?? [];
  if (fact !== undefined) return new RunError("refused", fact, "Write http:// before the address.");
  const hint =
    command === undefined
      ? "Correct the address, or write a scenario with rampart init."
      : `Write rampart ${command} ${url}.`;
  const isKnown = command !== undefined && isOfApi(command);
  return new RunError("refused", isKnown ? `${what}, and not ${server}` : what, hint);
}
