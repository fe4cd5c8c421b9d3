import { tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import type { Plan } from "../../plan/plan.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { measuredLevels } from "../../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { describeLevelNotes } from "../level-notes.ts";
import { describeUndelivered } from "../load-delivery.ts";
import { describeRepeats } from "../load-notes.ts";
import type { Note } from "../model/report-model.ts";
import { warnOfResends } from "../resend-note.ts";

/** Returns the notes on runs of one plan. Equal notes of several levels are one. @param warned warnings that were reported during the runs */
export function makeNotes(plan: Plan, runs: readonly RunResult[], warned: readonly string[]): Note[] {
  const ofRuns = runs.flatMap((run): Note[] => [
    ...run.prepared.warnings.map((text) => note("prepared", "caution", text)),
    ...[describeRepeats(run)].flatMap((text) =>
      text === undefined ? [] : [note("repeated-prompts", "caution", text)],
    ),
    ...[warnOfResends(run)].flatMap((text) => (text === undefined ? [] : [note("sent-again", "caution", text)])),
    ...measuredLevels(run).flatMap((level) => notesOfLevel(plan, run, level)),
  ]);
  const all = [...warned.map((text) => note("warning", "caution", text)), ...ofRuns];
  const equal = Map.groupBy(all, ({ code, text }) => `${code} ${text}`);
  return [...equal.values()].map((group): Note => {
    const [first] = group as [Note, ...Note[]];
    return { ...first, levels: [...new Set(group.flatMap(({ levels }) => levels))] };
  });
}

function notesOfLevel(plan: Plan, { prepared }: RunResult, result: LevelResult): Note[] {
  const { tokens, level, phase } = result;
  const levels = [describeLevel(plan.load, level, phase?.index)];
  const undelivered = describeUndelivered(plan, result);
  return [
    ...describeLevelNotes(plan, prepared, result).map((texts) => note("level", "caution", texts.join(". "), levels)),
    ...(undelivered === undefined ? [] : [note("load-not-delivered", "caution", undelivered, levels)]),
    ...(tokens === undefined ? [] : tokenWarnings(tokens)).map((text) => note("tokens", "detail", text, levels)),
  ];
}

function note(code: string, severity: Note["severity"], text: string, levels: readonly string[] = []): Note {
  return { code, severity, levels, text: /[.?!]$/.test(text) ? text : `${text}.` };
}
