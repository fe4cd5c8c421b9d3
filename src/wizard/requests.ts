import type { Answers } from "./answers.ts";
import type { ScenarioField } from "./source/format.ts";
import type { WizardTarget } from "./targets.ts";

/** Returns the name of the measured target in sentences: its model, or its kind. */
export function nameOf({ model = "", url }: Answers): string {
  if (model !== "") return model;
  return url === undefined ? "the embedded target" : "the server";
}

/** Returns the inputs for a target's requests; empty if the target contains them, or uses random ones by default. */
export function requestsOf(answers: Answers, target: WizardTarget): ScenarioField[] {
  const value = target.toInputs?.(answers);
  return value === undefined ? [] : [{ name: "inputs", value }];
}
