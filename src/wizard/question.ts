import type { ListedModel } from "../service/service.ts";
import type { Answers, QuestionId } from "./answers.ts";

/** The environment of the questions. */
export interface Surroundings {
  /** Models that are ready on the server; empty before the query. */
  readonly models: readonly ListedModel[];
  /** Whether the server is not queried. */
  readonly isOffline: boolean;
  /** Whether the user keeps a tokenizer that could not be loaded, so that the scenario cannot run here. */
  readonly lacksTokenizer?: boolean;
  /** What answers at the address; absent before the query, and when it is unknown. */
  readonly detected?: Detected | undefined;
  /** Whether the user is asked for an address first, before the target is known. */
  readonly asksAddress?: boolean;
  /** Answers from options. */
  readonly given: Answers;
  fileExists(path: string): boolean;
  /** Returns why a file cannot be written to a path; undefined when it can. */
  findFolderProblem(path: string): string | undefined;
  /** Returns the text of a file; undefined when it cannot be read, or is too large to look at. */
  readText(path: string): string | undefined;
}

/** The answers that a server itself gives. */
export interface Detected {
  /** Key of `WIZARD_TARGETS`. */
  readonly target: string;
  readonly protocol: "http" | "grpc";
  /** All targets whose API was recognized there; empty where the target is only a guess. */
  readonly found: readonly { readonly target: string; readonly protocol: "http" | "grpc" }[];
}

/** An answer to choose. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** A question of the wizard. Questions only compute; `prompts.ts` prints and asks. */
export interface Question {
  readonly id: QuestionId;
  /** What is asked. A function: it depends on the answers. */
  readonly message: string | ((answers: Answers) => string);
  /** Placeholder of its option's value. Absent: other commands have the option too, or there is none. */
  readonly value?: string;
  /** What its option means. Absent like `value`. */
  readonly help?: string;
  isNeeded(answers: Answers, around: Surroundings): boolean;
  /** Absent or empty for free text. */
  choices?(answers: Answers, around: Surroundings): Choice[];
  /** The default answer; undefined when there is none. */
  preset(answers: Answers, around: Surroundings): string | undefined;
  /** Returns the problem of an answer; undefined when it is valid. */
  check(answer: string, answers: Answers, around: Surroundings): string | undefined;
  /** Returns the answer that follows from other options. Absent: it never does. */
  implied?(given: Answers): string | undefined;
}
