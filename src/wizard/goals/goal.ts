import type { Plan } from "../../plan/plan.ts";
import type { RunTime } from "../../registry/estimate-time.ts";
import type { Answers, GoalQuestionId } from "../answers.ts";
import type { Question, Surroundings } from "../question.ts";
import type { ScenarioField } from "../source/format.ts";
import type { Call } from "../source/source.ts";
import type { WizardTarget } from "../targets.ts";

/** The part of a question that depends on the goal. */
export interface Asked extends Pick<Question, "preset" | "check" | "choices" | "implied"> {
  readonly message: string;
  /** Reports whether the question is needed after these answers. Absent: always. */
  isNeeded?(answers: Answers): boolean;
}

/** The scenario that a goal composes from the answers. */
export interface Composition {
  /** One sentence that says what the scenario measures. */
  readonly title: string;
  /** The fields of the scenario besides its name. */
  readonly fields: readonly ScenarioField[];
}

/** The target of a second scenario. */
export interface OtherTarget {
  readonly target: Call;
  /** The difference, after `The same`: `on the other server`. */
  readonly place: string;
}

/** A goal of the wizard: everything that determines its questions, its scenario and its time. */
export interface Goal {
  readonly label: string;
  readonly hint: string;
  /** The questions that this goal needs, besides those of the target. */
  readonly asks: Readonly<Partial<Record<GoalQuestionId, Asked>>>;
  /** Reports whether the target's inputs are sent. Absent: always. */
  usesInputs?(answers: Answers): boolean;
  /** Returns the suffix of the scenario's name, which follows the name of the model. */
  suffix(answers: Answers): string;
  compose(answers: Answers, target: WizardTarget): Composition;
  /** Returns the time of the run, if it cannot be derived from the plan. Absent: derived from the plan. */
  time?(answers: Answers, plan: Plan, around: Surroundings): RunTime | undefined;
  /** Returns the target of a second scenario, which is compared with the first. Absent or undefined: there is none. */
  other?(answers: Answers, target: WizardTarget): OtherTarget | undefined;
  /** Returns the first level of the load, for command lines with a single level. Absent: no command line does the same. */
  firstLevel?(answers: Answers): number;
  /** Returns the plan with the closest flags of perf_analyzer. Absent: no flags do the same. */
  toFlagsPlan?(plan: Plan, answers: Answers): Plan | undefined;
  /** Difference between these flags and the scenario. Absent: as in the plan. */
  readonly flagsNote?: string;
}
