import * as v from "valibot";
import { messageOf, type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { type PlanOf, pathSchema } from "../plan/schema.ts";
import { usToNs } from "../plan/units.ts";
import { readFileText } from "../runtime/files.ts";
import { intervalArrivals, intervalsRatePerSec } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";

const schema = () => v.object({ kind: v.literal("intervals"), file: pathSchema() });

const MAX_PROBLEMS = 10;

/** Requests at gaps from a file, repeated: one integer of microseconds per line. */
export const intervalsMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: (plan) => {
    const intervalsNs = readIntervalsNs(plan.file);
    return {
      level: intervalsRatePerSec(intervalsNs),
      drive: () => ({ kind: "scheduled", arrivals: intervalArrivals(intervalsNs) }),
    };
  },
  unit: "request-rate",
  describe: ({ file }) => `intervals from ${file}`,
  perfAnalyzer: { isUnannounced: true, hasWholeLevel: true },
};

/** Reads the gaps of a file in nanoseconds. @throws UserError with each invalid line */
export function readIntervalsNs(path: string): number[] {
  let text: string;
  try {
    text = readFileText(path);
  } catch (error) {
    const message = `failed to open file '${path}': ${messageOf(error)}`;
    throw userError("unreadable", path, message, "Give an existing text file.");
  }
  const problems: Problem[] = [];
  const intervalsNs: number[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const intervalNs = /^\s*\d+\s*$/.test(line) ? usToNs(Number(line)) : Number.NaN;
    if (Number.isSafeInteger(intervalNs)) intervalsNs.push(intervalNs);
    else {
      const message = "is not a time interval";
      const hint = "Write a whole number of microseconds per line, at most 100 days.";
      problems.push(problem("invalid-value", `${path}, line ${index + 1}`, message, hint, line.trim()));
    }
  }
  if (problems.length > 0) throw new UserError(problems.slice(0, MAX_PROBLEMS));
  if (intervalsNs.length === 0) {
    throw userError("missing", path, `file '${path}' is empty`, "Write one time interval in microseconds per line.");
  }
  if (intervalsNs.every((interval) => interval === 0)) {
    throw userError("invalid-value", path, "all time intervals are 0", "Give at least one above 0.");
  }
  return intervalsNs;
}
