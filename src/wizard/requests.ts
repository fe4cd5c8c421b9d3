import type { Answers } from "./answers.ts";
import type { ScenarioField } from "./source/format.ts";
import type { WizardTarget } from "./targets.ts";

/** Returns what the measured thing is called in sentences: its model, or its kind. */
export function nameOf({ model = "", url }: Answers): string {
  if (model !== "") return model;
  return url === undefined ? "the embedded target" : "the server";
}

/** Returns the inputs that a target's requests are made of; none when the target has them, or takes random ones by itself. */
export function requestsOf(answers: Answers, target: WizardTarget): ScenarioField[] {
  const value = target.toInputs?.(answers);
  return value === undefined ? [] : [{ name: "inputs", value }];
}
