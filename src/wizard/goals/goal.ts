import type { Plan } from "../../plan/plan.ts";
import type { RunTime } from "../../registry/estimate-time.ts";
import type { Answers, GoalQuestionId } from "../answers.ts";
import type { Choice, Surroundings } from "../question.ts";
import type { ScenarioField } from "../source/format.ts";
import type { Call } from "../source/source.ts";
import type { WizardTarget } from "../targets.ts";

/** A question as a goal asks it. */
export interface Asked {
  readonly message: string;
  /** Returns the default answer; undefined when there is none. */
  preset(answers: Answers, around: Surroundings): string | undefined;
  /** Returns the problem of an answer; undefined when it is valid. */
  check(answer: string, answers: Answers, around: Surroundings): string | undefined;
  /** Returns the answers to choose from. Absent: free text. */
  choices?(answers: Answers, around: Surroundings): Choice[];
  /** Whether it is asked after these answers. Absent: always. */
  isNeeded?(answers: Answers): boolean;
  /** Returns the answer that follows from other options. Absent: it never does. */
  implied?(given: Answers): string | undefined;
}

/** What a goal makes of the answers. */
export interface Composition {
  /** One sentence that says what the scenario finds out. */
  readonly title: string;
  /** The fields of the scenario besides its name. */
  readonly fields: readonly ScenarioField[];
}

/** The target of a second scenario. */
export interface OtherTarget {
  readonly target: Call;
  /** What differs, behind `The same`: `on the other server`. */
  readonly place: string;
}

/** A goal of the wizard: everything that its questions, its scenario and its time depend on. */
export interface Goal {
  readonly label: string;
  readonly hint: string;
  /** The questions that this goal needs, besides those of the target. */
  readonly asks: Readonly<Partial<Record<GoalQuestionId, Asked>>>;
  /** Whether the target's own inputs are sent. Absent: always. */
  usesInputs?(answers: Answers): boolean;
  /** What the name of the scenario has behind that of the model. */
  suffix(answers: Answers): string;
  compose(answers: Answers, target: WizardTarget): Composition;
  /** Returns how long the run takes, where the plan does not say it. Absent: the plan says it. */
  time?(answers: Answers, plan: Plan, around: Surroundings): RunTime | undefined;
  /** Returns what a second scenario measures, which is to be compared with the first. Absent or undefined: there is none. */
  other?(answers: Answers, target: WizardTarget): OtherTarget | undefined;
  /** Returns the first level of the load, for command lines with a single one. Absent: none of them does the same. */
  firstLevel?(answers: Answers): number;
  /** Returns the plan whose flags of perf_analyzer come closest. Absent: no flags do the same. */
  toFlagsPlan?(plan: Plan, answers: Answers): Plan | undefined;
  /** How these flags differ. Absent: as the plan says. */
  readonly flagsNote?: string;
}
