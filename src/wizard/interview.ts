import { existsSync } from "node:fs";
import type { NameOf } from "../plan/messages.ts";
import { defined } from "../plan/objects.ts";
import { messageOf, type Problem, problem, RunError, UserError, wordError } from "../plan/problem.ts";
import { describeTime } from "../registry/estimate-time.ts";
import type { Answers, QuestionId } from "./answers.ts";
import { requireMeasurable } from "./detect.ts";
import {
  checkableFlags,
  findUnneededForGoal,
  findUnneededForTarget,
  hasWrongFlag,
  impliedTarget,
  knownAnswer,
  lacksTargetAnswer,
  unanswered,
  withImplied,
  wrongAnswer,
} from "./given-answers.ts";
import { findFolderProblem, readText } from "./paths.ts";
import { QueriedServer } from "./queried-server.ts";
import type { Question, Surroundings } from "./question.ts";
import { nextQuestion } from "./questions.ts";
import { timeOf } from "./scenario-text.ts";
import { wizardTargetOf } from "./targets.ts";
import { askQuestion, askWay, explainKeys, inform, type Reply, warn } from "./terminal-prompts.ts";
import { suggestTokenizer } from "./tokenizer.ts";

/** Handling of questions without a flag: ask the user, take the default, or report a problem. */
export type InterviewMode = "ask" | "defaults" | "refuse";

/** The input of an interview. */
export interface InterviewStart extends Pick<Surroundings, "given" | "isOffline"> {
  readonly mode: InterviewMode;
  /** Problems with the flags so far. */
  readonly problems: readonly Problem[];
  /** Prints a sentence if there is no terminal for questions. */
  readonly say: (text: string) => void;
}

const NO_SERVER_HINT = "Or give --no-server to write the scenario without querying the server.";

/** Collects the answers from flags, defaults and the user. */
export class Interview {
  private readonly mode: InterviewMode;
  /** Answers from options. */
  private readonly asGiven: Answers;
  /** Answers from options, and answers that follow from them. */
  private given: Answers;
  private answers: Answers = {};
  private readonly asked: { readonly id: QuestionId; readonly before: Answers }[] = [];
  /** Questions that the user went back to, which are asked even if the server answers them. */
  private readonly reopened = new Set<QuestionId>();
  /** The last answer to each question, by the user or the server. It is offered again after a step back. */
  private readonly typed = new Map<QuestionId, string>();
  private readonly server: QueriedServer;
  /** The tokenizer that could not be loaded. */
  private failedTokenizer: string | undefined;
  private readonly problems: Problem[];
  private readonly inform: (text: string) => void;

  constructor({ mode, given, problems, isOffline, say }: InterviewStart) {
    this.inform = mode === "ask" ? inform : say;
    this.server = new QueriedServer(isOffline, this.inform);
    this.mode = mode;
    this.asGiven = given;
    this.given = withImplied(given);
    this.problems = [...problems];
  }

  /**
   * Returns all answers; undefined if the user ends the interview.
   * @throws UserError with all problems of the flags
   * @throws RunError when the server cannot be queried
   */
  async complete(): Promise<Answers | undefined> {
    if (this.mode === "ask") {
      this.checkBeforeAsking();
      explainKeys();
    }
    await this.implyTarget();
    const target = this.mode === "ask" ? await this.detectAnswer("target") : undefined;
    this.problems.push(
      ...findUnneededForTarget({ ...defined({ target }), ...this.given }),
      ...findUnneededForGoal(this.asGiven, this.given),
    );
    for (let question = this.next(); question !== undefined; question = this.next()) {
      const { server } = this;
      if (question.id === "model" && !server.isProbed && !server.isOffline && !this.asksModelFirst()) {
        const way = await this.probe();
        if (way === "end") return undefined;
        if (way === "again") continue;
      }
      if (question.id === "save" && this.mode === "ask" && this.given.save === undefined) await this.sayBeforeWriting();
      const reply = await this.reply(question);
      if (reply.kind === "end") return undefined;
      if (reply.kind === "back") this.goBack();
      else await this.take(question, reply.text);
      if (reply.kind === "answer" && question.id === "model" && this.asksModelFirst() && !server.isOffline) {
        const way = await this.probe();
        if (way === "end") return undefined;
        // If the address is from an option, the mistake may be in the model.
        if (way === "again" && this.answers.model !== undefined) this.goBack();
      }
    }
    // Missing answers are asked for once the given ones are right.
    const isLater = (code: Problem["code"]): boolean => code === "missing" && this.mode !== "defaults";
    const wrong = this.problems.filter(({ code }) => !isLater(code));
    if (this.problems.length > 0) throw new UserError(wrong.length > 0 ? wrong : this.problems);
    if (this.mode !== "ask" || this.given.save !== undefined) await this.sayBeforeWriting();
    await this.checkUnused();
    return this.answers;
  }

  /** Reports before anything is written whether the server refuses the requests, and how long the run will take. */
  private async sayBeforeWriting(): Promise<void> {
    if (this.problems.length > 0) return;
    const refusal = await this.server.describeRefusal(this.answers);
    const time = describeTime(timeOf({ save: "./x.ts", ...this.answers }, this.around));
    this.inform(refusal === undefined ? time : `${refusal}\n${time}`);
  }

  private get around(): Surroundings {
    const { given } = this;
    const { models, isOffline, detected } = this.server;
    const asksAddress = this.mode === "ask" && !isOffline && (given.target ?? given.url) === undefined;
    const lacksTokenizer = this.failedTokenizer !== undefined && this.answers.tokenizer === this.failedTokenizer;
    const files = { fileExists: existsSync, findFolderProblem, readText };
    return { models, isOffline, detected, asksAddress, given, lacksTokenizer, ...files };
  }

  private async take({ id }: Question, text: string): Promise<void> {
    this.answers = { ...this.answers, [id]: text };
    if (id === "goal" && this.given.goal === undefined && this.mode !== "ask")
      this.problems.push(...findUnneededForGoal(this.asGiven, this.answers));
    if (id !== "address") return;
    this.reopened.clear();
    if (text !== "") this.answers = { ...this.answers, url: await this.server.detect(text) };
  }

  /** Derives the target from the flags: an address or a model implies a server, and the server at the address determines the target. */
  private async implyTarget(): Promise<void> {
    const { url, model, target, protocol } = this.given;
    const isKnown =
      target !== undefined &&
      (protocol !== undefined || wizardTargetOf({ target })?.asks.includes("protocol") !== true);
    if (isKnown || (url ?? model) === undefined) return;
    const isAsked =
      url !== undefined &&
      !this.server.isOffline &&
      this.problems.length === 0 &&
      !hasWrongFlag(this.given, this.around);
    if (isAsked) this.given = { ...this.given, url: await this.server.detect(url, target) };
    // If no known server responds, the user chooses on a terminal.
    if (target !== undefined || (this.mode === "ask" && isAsked)) return;
    const withModel = await this.server.findTarget(this.given);
    this.given = { ...this.given, target: withModel ?? impliedTarget(this.given, this.server.detected) };
  }

  /** Reports whether the user names the model before the server is queried, because the server cannot list its models. */
  private asksModelFirst(): boolean {
    const target = wizardTargetOf({ ...this.given, ...this.answers });
    return this.mode === "ask" && this.given.model === undefined && target?.lists === "named";
  }

  private next(): Question | undefined {
    return nextQuestion(this.answers, this.around);
  }

  private async reply(question: Question): Promise<Reply> {
    const given = this.given[question.id];
    if (given === undefined && this.mode === "ask") return (await this.known(question)) ?? this.ask(question);
    return { kind: "answer", text: await this.answer(question, given) };
  }

  /** Answers a question from the server's data, unless the user went back to it. */
  private async known({ id }: Question): Promise<Reply | undefined> {
    const text = this.reopened.has(id) ? undefined : await this.detectAnswer(id);
    if (text === undefined) return undefined;
    const hasOthers = id === "tokenizer" || (id === "target" && this.server.detected?.found.length !== 1);
    if (hasOthers) {
      this.asked.push({ id, before: this.answers });
      this.typed.set(id, text);
      inform(`The ${id} is ${wizardTargetOf({ target: text })?.label ?? text}. Escape chooses another.`);
    } else if (id === "model") inform(`The model is ${text}, the only one that is ready and can be measured.`);
    return { kind: "answer", text };
  }

  /** Returns the answer that the server's data gives to a question; undefined if there is none. */
  private async detectAnswer(id: QuestionId): Promise<string | undefined> {
    const { answers, around, given } = this;
    if (id === "target")
      return (await this.server.findTarget({ ...given, ...answers })) ?? knownAnswer(id, answers, around);
    if (id !== "tokenizer") return knownAnswer(id, answers, around);
    const name = this.server.isProbed ? await this.detectTokenizer() : undefined;
    // The proposed answer is then `none`, and not the model's name.
    if (name === "none") this.typed.set(id, name);
    return name === "none" ? undefined : name;
  }

  /** Returns the answer from a flag or a default. Records its problems. */
  private async answer(question: Question, given: string | undefined): Promise<string> {
    // The models are unknown when a problem prevented the query.
    const { server } = this;
    const isUnknown = question.id === "model" && !server.isProbed && !server.isOffline;
    if (isUnknown && (given !== undefined || this.mode === "defaults")) return given ?? "";
    const preset = question.preset({ ...this.given, ...this.answers }, this.around);
    if (given === undefined && question.id === "tokenizer" && this.mode === "defaults" && server.isProbed)
      return this.detectTokenizer();
    const answer = given ?? (this.mode === "defaults" ? preset : undefined);
    if (answer !== undefined) {
      if (given !== undefined) this.check(question, given, this.answers);
      await this.checkTokenizer(question, answer);
      if (this.mode === "ask" && this.problems.length > 0) throw new UserError(this.problems);
      return answer;
    }
    const takesDefaults = this.mode === "defaults";
    this.problems.push(unanswered(question, { preset, models: server.models, takesDefaults }));
    return preset ?? "";
  }

  private async ask(question: Question): Promise<Reply> {
    for (;;) {
      const earlier = this.earlier(question);
      const reply = await askQuestion(question, { ...this.given, ...this.answers }, this.around, earlier);
      if (reply.kind !== "answer") return reply;
      this.typed.set(question.id, reply.text);
      const problem = reply.text === earlier ? undefined : await this.findTokenizerProblem(question, reply.text);
      if (problem === undefined) {
        this.asked.push({ id: question.id, before: this.answers });
        return reply;
      }
      this.failedTokenizer = reply.text;
      warn(`${problem}\n${await suggestTokenizer(reply.text)}Give the same answer again to write it anyway.`);
    }
  }

  /** Returns the user's last answer to a question, unless it is no longer possible. */
  private earlier(question: Question): string | undefined {
    const typed = this.typed.get(question.id);
    const isPossible = typed !== undefined && question.check(typed, this.answers, this.around) === undefined;
    return isPossible ? typed : undefined;
  }

  /** Goes back to the question answered last, or stays at the first one. */
  private goBack(): void {
    const last = this.asked.pop();
    if (last === undefined) return;
    this.reopened.add(last.id);
    this.answers = last.before;
    const { target, url } = { ...this.given, ...this.answers };
    if (target !== undefined && url !== undefined) return;
    this.server.forget(url === undefined);
  }

  /** Queries the server for its models. Returns `again` if another question comes first, `end` if the user ends the interview. */
  private async probe(): Promise<"done" | "again" | "end"> {
    // Do not query while a flag is wrong or missing.
    if (this.problems.length > 0) return "done";
    const answered = { model: "any", ...this.given, ...this.answers };
    if (this.mode === "defaults" && lacksTargetAnswer(answered, this.around)) return "done";
    try {
      await this.server.listModels({ ...this.given, ...this.answers });
    } catch (error) {
      if (!(error instanceof RunError || error instanceof UserError)) throw error;
      if (this.mode === "ask") return this.askAfterFailure(messageOf(wordError(error, nameInQuestions)));
      throw error instanceof RunError ? error.reword(error.text, [error.hint, ` ${NO_SERVER_HINT}`]) : error;
    }
    requireMeasurable(this.server.models, this.answers);
    return "done";
  }

  /** Asks the user how to proceed if the server did not respond. */
  private async askAfterFailure(problem: string): Promise<"done" | "again" | "end"> {
    warn(problem);
    const hasFlag = this.given.url !== undefined;
    const reply = await askWay("The server's models are not available. What next?", [
      hasFlag ? { value: "again", label: "try again" } : { value: "again", label: "give another address" },
      { value: "offline", label: "write the scenario without querying the server" },
    ]);
    if (reply.kind === "end") return "end";
    this.server.isOffline = reply.kind === "answer" && reply.text === "offline";
    if (this.server.isOffline) return "done";
    if (!hasFlag) this.backTo("url");
    return "again";
  }

  /** Discards the answers from this question on. */
  private backTo(id: QuestionId): void {
    while (this.answers[id] !== undefined && this.asked.length > 0) this.goBack();
  }

  /** Checks a flag's answer and records its problem. */
  private check(question: Question, given: string, answers: Answers): void {
    const message = question.check(given, answers, this.around);
    if (message === undefined) return;
    const choices = question.choices?.(answers, this.around).map(({ value }) => value) ?? [];
    this.problems.push(wrongAnswer(question.id, message, given, choices));
  }

  private detectTokenizer(): Promise<string> {
    return this.server.findTokenizer(this.answers.model ?? "");
  }

  private async checkTokenizer(question: Question, answer: string): Promise<void> {
    if (this.problems.length > 0) return;
    const message = await this.findTokenizerProblem(question, answer);
    if (message === undefined) return;
    const hint = `${await suggestTokenizer(answer)}Give a folder with tokenizer.json. ${NO_SERVER_HINT}`;
    this.problems.push(problem("unreadable", "--tokenizer", message, hint, answer));
  }

  private async findTokenizerProblem({ id }: Question, answer: string): Promise<string | undefined> {
    return id === "tokenizer" ? this.server.findTokenizerProblem(answer) : undefined;
  }

  /** Reports problems with flags before the first question, as far as they can be known then. */
  private checkBeforeAsking(): void {
    for (const [question, given] of checkableFlags(this.given, this.around)) this.check(question, given, this.given);
    if (this.problems.length > 0) throw new UserError(this.problems);
  }

  /** Reports options that have no effect with the given answers. */
  private async checkUnused(): Promise<void> {
    const unused = (Object.keys(this.asGiven) as QuestionId[]).filter((id) => this.answers[id] === undefined);
    const message = "has no effect with the other answers";
    const problems = unused.map((id) => problem("conflict", `--${id}`, message, "Leave it out.", this.asGiven[id]));
    if (problems.length > 0 && this.mode !== "ask") throw new UserError(problems);
    for (const id of unused) warn(`--${id} ${message}`);
  }
}

/** Names of settings in the questions. */
const nameInQuestions: NameOf = (path) => (path === "target.url" ? "the address" : undefined);
