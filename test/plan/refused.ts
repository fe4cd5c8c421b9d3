import assert from "node:assert/strict";
import { word } from "../../src/plan/messages.ts";
import { type Problem, UserError } from "../../src/plan/problem.ts";

/** Returns the problems for which a call is refused; none when it is not. */
export function problemsIn(call: () => unknown): readonly Problem[] {
  try {
    call();
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
  return [];
}

/** Returns them as `path: message`. */
export function refusalsIn(call: () => unknown): string[] {
  return problemsIn(call).map(({ path, message }) => `${word(path)}: ${word(message)}`);
}

/** Checks that a call is refused for one setting. */
export function assertRefused(call: () => unknown, path: string, message: RegExp): void {
  const problems = problemsIn(call);
  assert.deepEqual(
    problems.map((problem) => problem.path),
    [path],
  );
  assert.match(word(problems[0]?.message ?? ""), message);
}
