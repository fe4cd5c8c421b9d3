import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { Answers } from "./answers.ts";
import type { ScenarioField } from "./source/format.ts";
import type { WizardTarget } from "./targets.ts";

/** Returns what the measured thing is called in sentences: its model, or its kind. */
export function nameOf({ model = "", target = "" }: Answers): string {
  if (model !== "") return model;
  return target === "embedded" ? "the embedded target" : "the server";
}

/** Returns the inputs that a target's requests are made of; none when the target has them, or takes random ones by itself. */
export function requestsOf(answers: Answers, target: WizardTarget): ScenarioField[] {
  const value = target.toInputs?.(answers);
  return value === undefined ? [] : [{ name: "inputs", value }];
}

/** Converts a path relative to here into one relative to the scenario's folder. */
export function pathFrom(scenario: string, path: string): string {
  if (isAbsolute(path)) return path;
  const fromFolder = relative(dirname(resolve(scenario)), resolve(path)).replaceAll("\\", "/");
  return fromFolder.startsWith("../") ? fromFolder : `./${fromFolder}`;
}
