import { type NameOf, word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct } from "../../plan/units.ts";
import { joinLevels } from "../../registry/level-names.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { openVerdicts } from "../judge-run.ts";
import type { Note, Severity } from "../model/report-model.ts";
import { nameLevel } from "../model/report-view.ts";
import { findInLevel } from "./level-notes.ts";
import { describeRepeats, type Finding, warnOfResends } from "./load-notes.ts";

/** The notes of a report: made once of the results, part of its JSON, and the same in every format. */

/** A finding with the level that it is about. */
interface Placed {
  readonly finding: Finding;
  readonly run: number;
  readonly level: string;
}

const ORDER: readonly Severity[] = ["wrong", "caution", "detail"];

/** What notes need besides the results. */
export interface NoteOptions {
  /** Warnings that were reported during the runs, as sentences without a full stop. Default: none */
  readonly warned?: readonly string[];
  /** The user's front door's names of settings. Default: they keep their paths in the plan */
  readonly nameOf?: NameOf | undefined;
}

/** Makes the notes on runs of one plan; `wrong` first. Those that say the same about several levels become one. */
export function makeNotes(plan: Plan, runs: readonly RunResult[], { warned = [], nameOf }: NoteOptions = {}): Note[] {
  const levels = runs.flatMap((result, run) =>
    result.levels
      .filter(({ window }) => window.requestCount + window.failedCount > 0)
      .map((level) => ({ result, run, level, name: nameLevel(plan, level) })),
  );
  const open = openVerdicts(plan, runs);
  const placed = levels.flatMap(({ result, run, level, name }) =>
    findInLevel(plan, result.prepared, level, open, levels.length === 1).map(
      ({ texts, ...rest }): Placed => ({
        finding: { ...rest, texts: texts.map((text) => word(text, nameOf)) },
        run,
        level: name,
      }),
    ),
  );
  const groups = Map.groupBy(placed, ({ finding }) => sameNote(finding));
  const merged = [...groups.values()].map((group) => mergeNotes(group, levels));
  const whole = [
    ...[...new Set(runs.flatMap(({ prepared }) => prepared.warnings.map((text) => word(text, nameOf))))].map(
      (text) => ["prepared", text] as const,
    ),
    ...[...new Set(warned)].map((text) => ["warning", text] as const),
    ...[...new Set(runs.flatMap((run) => describeRepeats(run) ?? []))].map(
      (text) => ["repeated-prompts", text] as const,
    ),
    ...[...new Set(runs.flatMap((run) => warnOfResends(run) ?? []))].map((text) => [SENT_AGAIN, text] as const),
    ...runs.flatMap(describeLost).map((text) => [AGENT_LOST, text] as const),
  ].map(([code, text]): Note => {
    const severity = code === AGENT_LOST ? "wrong" : code === SENT_AGAIN ? "caution" : "detail";
    return { code, severity, levels: [], text: toSentences([text]) };
  });
  return [...merged, ...whole].toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

/** Its part of the load was not sent, whatever the level says. */
const AGENT_LOST = "agent-lost";

function describeLost({ hosts = [] }: RunResult): string[] {
  const all = hosts
    .flatMap(({ name, lost }) => (lost === undefined ? [] : [{ name, ...lost }]))
    .toSorted((a, b) => a.afterNs - b.afterNs);
  const [first, ...others] = all;
  if (first === undefined) return [];
  const part = `${formatPct(all.reduce((sum, { loadRatio }) => sum + loadRatio, 0))} of the load is missing`;
  const after = formatDurationNs(first.afterNs);
  if (others.length === 0)
    return [`the agent ${first.name} was lost after ${after}, from when ${part}: ${first.reason}`];
  const count = formatCount(all.length);
  return [`${count} agents were lost and ${part}, the first, ${first.name}, after ${after}: ${first.reason}`];
}

/** A server that closes kept connections costs time in every such request. */
const SENT_AGAIN = "sent-again";

/** Returns a key that findings share when one note can say both: what differs are numbers, and `likewise` is true of the rest. */
function sameNote({ code, metric = "", texts, kind }: Finding): string {
  return kind ?? JSON.stringify([metric, code, texts.join(" ").replace(NUMBERS, "0").replace(FORMS, "")]);
}

/** What differs between sentences about one thing and about several. */
const FORMS = /\b(?:is|are|was|were|has|have|does|do|it|they|them)\b|(?<=[a-z])s\b/g;

/** Numbers with the unit behind them. */
const NUMBERS = /\d[\d.,]*(?:e[+-]?\d+)?(?: (?:us|ms|s|min|h)\b)?/g;

/** Joins findings of one note about several levels: the text is that of the most severe one. */
function mergeNotes(
  group: readonly Placed[],
  all: readonly { readonly run: number; readonly name: string; readonly level: LevelResult }[],
): Note {
  const rank = ({ finding: { severity, weight = 0 } }: Placed): number => 1e9 * ORDER.indexOf(severity) - weight;
  const [worst] = group.toSorted((a, b) => rank(a) - rank(b)) as [Placed];
  const { code, severity, metric, texts } = worst.finding;
  const isSame = ({ finding }: Placed): boolean => finding.texts.join() === texts.join();
  const names = [...new Set(group.map(({ level }) => level))];
  const same = [...new Set(group.filter(isSame).map(({ level }) => level))];
  const others = names.filter((name) => !same.includes(name));
  const times = group.flatMap((one) => {
    const run = all.some(({ run }) => run !== one.run) ? ` of run ${one.run + 1}` : "";
    const { when } = one.finding;
    return when === undefined || isSame(one) ? [] : [`at ${one.level}${run} ${when}`];
  });
  const isEverywhere = new Set(all.map(({ name }) => name)).size === names.length;
  const place = isEverywhere && others.length === 0 ? "" : `at ${joinLevels(same)}: `;
  const rest = isEverywhere ? "the other levels" : joinLevels(others);
  const likewise =
    times.length > 0 ? [`likewise ${times.join(", ")}`] : others.length === 0 ? [] : [`likewise at ${rest}`];
  const text = toSentences([`${place}${texts[0] ?? ""}`, ...texts.slice(1), ...likewise]);
  return { code, severity, ...(metric === undefined ? {} : { metric }), levels: names, text };
}

/** Joins sentences without full stops to a text. */
function toSentences(texts: readonly string[]): string {
  return texts
    .map(
      (text) =>
        `${/^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text}${/[.?!]$/.test(text) ? "" : "."}`,
    )
    .join(" ");
}
