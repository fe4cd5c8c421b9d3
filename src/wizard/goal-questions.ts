import type { Answers, GoalQuestionId } from "./answers.ts";
import type { Asked } from "./goals/goal.ts";
import { GOALS, goalOf } from "./goals/goals.ts";
import type { Question } from "./question.ts";

/** The questions of goals. The chosen goal determines the details of each. */

/** The parts of a question's option that do not depend on the goal. */
type Option = Pick<Question, "value" | "help">;

/** In the order of the questions. */
const OPTIONS: Readonly<Record<GoalQuestionId, Option>> = {
  against: {
    value: "WHAT",
    help: "For a comparison: model (another one), server (the same on another one) or, for embedded, protocol. Default: what --other-model or --other-url says; otherwise model, or the only possible one.",
  },
  "other-model": { value: "NAME", help: "For a comparison: the other model." },
  "other-url": { value: "URL", help: "For a comparison: address of the other server." },
  recording: {
    value: "KIND",
    help: "For a replay: requests (a JSON file with timestamps), conversations (JSON Lines with sessions, for language models) or gaps (a text file with microseconds). Default: requests, or gaps where the target takes no file of requests.",
  },
  file: { value: "FILE", help: "For a replay: the file." },
  load: {
    value: "LOAD",
    help: "users (each sends the next request when the last one is answered) or rate (requests per second). Default: what --users or --rate says, or users.",
  },
  users: {},
  rate: {},
  peak: {
    value: "N",
    help: "For a spike: users or requests per second at the peak. Default: 10 times the normal load.",
  },
  for: {},
  around: {
    value: "DURATION",
    help: "For a spike: time of the normal load before it, and again after it. Default: 1 min.",
  },
  "p99-limit": {
    value: "DURATION",
    help: "The p99 latency must be below this; none: no limit. Default: 50 ms for embedded, otherwise none; the goal limit of a server has no default.",
  },
  "ttft-limit": {
    value: "DURATION",
    help: "For language models: the p99 time to first token must be below this; none: no limit. Default: none.",
  },
  "error-limit": {
    value: "PERCENT",
    help: "For the limit: the share of failed requests must be below this, such as 1%, or none. Default: none, or 1 % without any other limit.",
  },
};

/** The questions in order. */
export const GOAL_QUESTIONS: readonly Question[] = (Object.keys(OPTIONS) as GoalQuestionId[]).map(toQuestion);

function toQuestion(id: GoalQuestionId): Question {
  const asked = (answers: Answers): Asked | undefined => goalOf(answers)?.asks[id];
  return {
    id,
    message: (answers) => asked(answers)?.message ?? id,
    ...OPTIONS[id],
    isNeeded: (answers) => asked(answers) !== undefined && asked(answers)?.isNeeded?.(answers) !== false,
    choices: (answers, around) => asked(answers)?.choices?.(answers, around) ?? [],
    preset: (answers, around) => asked(answers)?.preset(answers, around),
    check: (answer, answers, around) => asked(answers)?.check(answer, answers, around),
    implied: (given) => firstImplied(id, given),
  };
}

function firstImplied(id: GoalQuestionId, given: Answers): string | undefined {
  for (const { asks } of Object.values(GOALS)) {
    const implied = asks[id]?.implied?.(given);
    if (implied !== undefined) return implied;
  }
  return undefined;
}
