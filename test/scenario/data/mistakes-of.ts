import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatProblem, UserError } from "../../../src/plan/problem.ts";
import { loadDataScenario } from "../../../src/scenario/data/load-data.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";

/** Returns the errors of a scenario in YAML or JSON, formatted. */
export function mistakesOf(text: string, name = "x.yaml"): string[] {
  const folder = mkdtempSync(join(tmpdir(), "rampart-data-"));
  const path = join(folder, name);
  writeFileSync(path, text);
  let place = (problem: UserError["problems"][number]) => problem;
  try {
    const loaded = loadDataScenario(path, name);
    ({ place } = loaded);
    toPlan(loaded.scenario, folder);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.problems.map((problem) => formatProblem(place(problem)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}
