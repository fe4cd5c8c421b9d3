import { formatProblem, UserError } from "../../../src/plan/problem.ts";
import { loadDataScenario } from "../../../src/scenario/data/load-data.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";

/** Returns the errors of a scenario in YAML or JSON, formatted. */
export function mistakesOf(text: string, name = "x.yaml"): string[] {
  const folder = makeFolder();
  const path = writeIn(folder, name, text);
  let place = (problem: UserError["problems"][number]) => problem;
  try {
    const loaded = loadDataScenario(path, name);
    ({ place } = loaded);
    toPlan(loaded.scenario, folder);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.problems.map((problem) => formatProblem(place(problem)));
  }
  return [];
}
