import type { Answers } from "../answers.ts";
import { comparisonGoal } from "./comparison.ts";
import { curveGoal } from "./curve.ts";
import type { Goal } from "./goal.ts";
import { limitGoal } from "./limit.ts";
import { numberGoal } from "./number.ts";
import { replayGoal } from "./replay.ts";
import { soakGoal } from "./soak.ts";
import { spikeGoal } from "./spike.ts";

/** The goals of the wizard, in the order in which they are offered. */
export const GOALS: Readonly<Record<string, Goal>> = {
  number: numberGoal,
  curve: curveGoal,
  limit: limitGoal,
  replay: replayGoal,
  comparison: comparisonGoal,
  soak: soakGoal,
  spike: spikeGoal,
};

/** Returns the chosen goal; undefined if none is chosen, or the name is unknown. */
export function goalOf({ goal = "" }: Answers): Goal | undefined {
  return Object.hasOwn(GOALS, goal) ? GOALS[goal] : undefined;
}
