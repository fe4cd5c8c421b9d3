import type { ListedModel } from "../service/service.ts";
import type { Answers, QuestionId } from "./answers.ts";

/** Context of the questions. */
export interface Surroundings {
  /** Models that are ready on the server; empty before the query. */
  readonly models: readonly ListedModel[];
  /** Whether the server is not queried. */
  readonly isOffline: boolean;
  /** Whether the user keeps a tokenizer that could not be loaded, so that the scenario cannot run here. */
  readonly lacksTokenizer?: boolean;
  /** The server detected at the address; absent before the query, and if unknown. */
  readonly detected?: Detected | undefined;
  /** Whether the user is asked for an address first, before the target is known. */
  readonly asksAddress?: boolean;
  /** Answers from options. */
  readonly given: Answers;
  fileExists(path: string): boolean;
  /** Returns why a file cannot be written to a path; undefined if it can. */
  findFolderProblem(path: string): string | undefined;
  /** Returns the text of a file; undefined if it cannot be read or is too large. */
  readText(path: string): string | undefined;
}

/** Answers that a server gives. */
export interface Detected {
  /** Key of `WIZARD_TARGETS`. */
  readonly target: string;
  readonly protocol: "http" | "grpc";
  /** All targets whose API was recognized there; empty if the target is only a guess. */
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
  /** The question, which may depend on earlier answers. */
  readonly message: string | ((answers: Answers) => string);
  /** Placeholder of the option's value. Absent: other commands have the option too, or there is none. */
  readonly value?: string;
  /** Description of the option. Absent if `value` is. */
  readonly help?: string;
  isNeeded(answers: Answers, around: Surroundings): boolean;
  /** Returns the answers to choose from. Absent or empty: any text is allowed. */
  choices?(answers: Answers, around: Surroundings): Choice[];
  /** Returns the default answer; undefined if there is none. */
  preset(answers: Answers, around: Surroundings): string | undefined;
  /** Returns the problem of an answer; undefined if it is valid. */
  check(answer: string, answers: Answers, around: Surroundings): string | undefined;
  /** Returns the answer that follows from other options. Absent: never. */
  implied?(given: Answers): string | undefined;
}
