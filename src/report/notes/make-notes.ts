import { type NameOf, word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct } from "../../plan/units.ts";
import { joinLevels } from "../../registry/level-names.ts";
import type { LevelResult, LostShare, RunResult } from "../../result/run-result.ts";
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
    [...findInLevel(plan, result.prepared, level, open, levels.length === 1), ...findLost(result, level)].map(
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
  ].map(
    ([code, text]): Note => ({
      ...{ code, severity: code === SENT_AGAIN ? "caution" : "detail" },
      ...{ levels: [], text: toSentences([text]) },
    }),
  );
  // Where no level lacks it, what was sent between them.
  const lost = runs
    .filter((result) => !result.levels.some((level) => findLost(result, level).length > 0))
    .map(describeLost)
    .filter((texts) => texts.length > 0)
    .map((texts): Note => ({ code: AGENT_LOST, severity: "wrong", levels: [], text: toSentences(texts) }));
  return [...merged, ...lost, ...whole].toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

/** Its part of the load was not sent, whatever the level says. */
const AGENT_LOST = "agent-lost";

/** Returns the agents that were lost, in this order. */
function lostOf({ hosts = [] }: RunResult): (LostShare & { readonly name: string })[] {
  return hosts
    .flatMap(({ name, lost }) => (lost === undefined ? [] : [{ name, ...lost }]))
    .toSorted((a, b) => a.afterNs - b.afterNs);
}

/** Finds that a level lacks what an agent would have sent, or had sent. */
function findLost(result: RunResult, { window }: LevelResult): Finding[] {
  if (!lostOf(result).some(({ fromNs }) => fromNs < window.endNs)) return [];
  return [{ code: AGENT_LOST, severity: "wrong", texts: describeLost(result) }];
}

function describeLost(result: RunResult): string[] {
  const all = lostOf(result);
  const [first, ...others] = all;
  if (first === undefined) return [];
  const total = (pick: (lost: LostShare) => number): number => all.reduce((sum, lost) => sum + pick(lost), 0);
  const part = `${formatPct(total(({ loadRatio }) => loadRatio))} of the load is missing`;
  const after = formatDurationNs(first.afterNs);
  const head =
    others.length === 0
      ? `the agent ${first.name} was last heard of after ${after}, and ${part} from then on: ${first.reason}`
      : `${formatCount(all.length)} agents were lost and ${part}, the first, ${first.name}, last heard of after ${after}: ${first.reason}`;
  const uncounted = total(({ uncountedCount }) => uncountedCount);
  if (uncounted === 0) return [head];
  const who = others.length === 0 ? "it" : "they";
  const requests = uncounted === 1 ? "request" : "requests";
  return [
    head,
    `${formatCount(uncounted)} ${requests} that ${who} reported ${uncounted === 1 ? "is" : "are"} in no row`,
  ];
}

/** A server that closes kept connections costs time in every such request. */
const SENT_AGAIN = "sent-again";

/** Returns a key that findings share when one note can say both: what differs are numbers, and `likewise` is true of the rest. */
function sameNote({ code, metric = "", texts, kind }: Finding): string {
  return JSON.stringify([metric, kind ?? [code, texts.join(" ").replace(NUMBERS, "0")]]);
}

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
  const isEverywhere = new Set(all.map(({ name }) => name)).size === names.length;
  const place = isEverywhere && others.length === 0 ? "" : `at ${joinLevels(same)}: `;
  const rest = isEverywhere ? "the other levels" : joinLevels(others);
  const likewise = others.length === 0 ? [] : [`likewise at ${rest}`];
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
