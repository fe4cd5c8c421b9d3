import { RunError } from "../plan/problem.ts";
import { probeModels } from "../run/open/probe.ts";
import type { ListedModel } from "../service/service.ts";
import type { Answers } from "./answers.ts";
import { wizardTargetOf } from "./targets.ts";

/**
 * Finds the models of the chosen target: asks its server, or looks into its folder.
 * @throws RunError when the server cannot be queried
 * @throws UserError when an answer is wrong
 */
export async function findModels(answers: Answers): Promise<readonly ListedModel[]> {
  const chosen = wizardTargetOf(answers);
  const target = chosen?.probe?.(answers);
  return target === undefined ? (chosen?.listModels?.(answers) ?? []) : probeModels(target);
}

/** @throws RunError when none of the models can be measured */
export function requireMeasurable(models: readonly ListedModel[], answers: Answers): void {
  if (models.some(({ refusal }) => refusal === "")) return;
  const { url = "" } = answers;
  const place = url === "" ? `the folder ${answers["model-repository"]}` : url;
  throw new RunError("refused", `${place} has no model ready that can be measured`, "Load one on the server.");
}
