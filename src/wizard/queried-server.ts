import type { ListedModel } from "../service/service.ts";
import type { Answers } from "./answers.ts";
import { describeRefusal, detectServer, findModels, findTargetWithModel } from "./detect.ts";
import type { Detected } from "./question.ts";
import { findTokenizer, findTokenizerProblem } from "./tokenizer.ts";

/** What the server of an interview says of itself, as far as it was asked. */
export class QueriedServer {
  /** Whether the scenario is written without querying the server. */
  isOffline: boolean;
  /** What answers at its address; undefined if that is not known. */
  detected: Detected | undefined;
  private readonly inform: (text: string) => void;
  private listed: readonly ListedModel[] | undefined;

  /** @param inform shows the user a sentence */
  constructor(isOffline: boolean, inform: (text: string) => void) {
    this.isOffline = isOffline;
    this.inform = inform;
  }

  /** Its models; none before it has listed them. */
  get models(): readonly ListedModel[] {
    return this.listed ?? [];
  }

  /** Whether it has listed its models. */
  get isProbed(): boolean {
    return this.listed !== undefined;
  }

  /** Finds out what answers at an address, reports it, and returns the address to use. @param wanted target to look for */
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

  /** Queries its models. @throws RunError or UserError when it cannot be queried */
  async listModels(answers: Answers): Promise<void> {
    this.listed = await findModels(answers);
  }

  /** Returns why it refuses the requests of these answers; undefined if it does not, or is not asked. */
  async describeRefusal(answers: Answers): Promise<string | undefined> {
    return this.isOffline ? undefined : describeRefusal(answers);
  }

  /** Returns the tokenizer of a model, as far as the server says it and it can be loaded here. */
  async findTokenizer(model: string): Promise<string> {
    const { name, text } = await findTokenizer(this.models.find((one) => one.name === model) ?? { name: model });
    if (text !== undefined) this.inform(text);
    return name;
  }

  /** Returns why a tokenizer cannot be loaded. Not checked when the scenario is for another machine. */
  async findTokenizerProblem(tokenizer: string): Promise<string | undefined> {
    return this.isOffline ? undefined : findTokenizerProblem(tokenizer);
  }

  /** Forgets what it said, for another one. @param isElsewhere whether its address is another one too */
  forget(isElsewhere: boolean): void {
    this.listed = undefined;
    if (isElsewhere) this.detected = undefined;
  }
}
