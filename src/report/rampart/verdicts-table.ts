import type { VerdictState } from "../../measure/limits/verdict-state.ts";

/** The words of results in reports for people. */
export const VERDICT_WORDS: Readonly<Record<VerdictState, string>> = {
  pass: "pass",
  fail: "FAIL",
  unresolved: "unresolved",
};
