import type { ListedModel } from "../service/service.ts";
import type { Answers } from "./answers.ts";
import { describeRefusal, detectServer, findModels, findTargetWithModel } from "./detect.ts";
import type { Detected } from "./question.ts";
import { findTokenizer, findTokenizerProblem } from "./tokenizer.ts";

/** Information from the server of an interview, as far as it was queried. */
export class QueriedServer {
  /** Whether the scenario is written without querying the server. */
  isOffline: boolean;
  /** The detected server; undefined if unknown. */
  detected: Detected | undefined;
  private readonly inform: (text: string) => void;
  private listed: readonly ListedModel[] | undefined;

  /** @param inform shows the user a sentence */
  constructor(isOffline: boolean, inform: (text: string) => void) {
    this.isOffline = isOffline;
    this.inform = inform;
  }

  /** The server's models; empty before it has listed them. */
  get models(): readonly ListedModel[] {
    return this.listed ?? [];
  }

  get isProbed(): boolean {
    return this.listed !== undefined;
  }

  /** Detects the server at an address, reports it, and returns the address to use. @param wanted target to look for */
  async detect(url: string, wanted?: string): Promise<string> {
    const detection = await detectServer(url, { wanted });
    if (detection === undefined) return url;
    this.detected = detection.detected;
    this.inform(detection.text);
    return detection.url;
  }

  /** Returns the target that has the model of the answers; undefined if none is known. */
  findTarget(answers: Answers): Promise<string | undefined> {
    return findTargetWithModel(answers, this.detected);
  }

  /** Queries the server's models. @throws RunError or UserError when it cannot be queried */
  async listModels(answers: Answers): Promise<void> {
    this.listed = await findModels(answers);
  }

  /** Returns why the server refuses the requests of these answers; undefined if it does not, or is not queried. */
  async describeRefusal(answers: Answers): Promise<string | undefined> {
    return this.isOffline ? undefined : describeRefusal(answers);
  }

  /** Returns the tokenizer of a model, if the server names it and it can be loaded here. */
  async findTokenizer(model: string): Promise<string> {
    const { name, text } = await findTokenizer(this.models.find((one) => one.name === model) ?? { name: model });
    if (text !== undefined) this.inform(text);
    return name;
  }

  /** Returns why a tokenizer cannot be loaded. Not checked if the scenario is for another machine. */
  async findTokenizerProblem(tokenizer: string): Promise<string | undefined> {
    return this.isOffline ? undefined : findTokenizerProblem(tokenizer);
  }

  /** Drops the information, because the server changes. @param isElsewhere whether its address changes too */
  forget(isElsewhere: boolean): void {
    this.listed = undefined;
    if (isElsewhere) this.detected = undefined;
  }
}
