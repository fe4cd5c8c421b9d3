import { type NameOf, word } from "../../plan/messages.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { countOf, formatCount, formatDurationNs, formatPct, plural } from "../../plan/units.ts";
import { joinLevels } from "../../registry/level-names.ts";
import type { HostStandstill, LevelResult, LostShare, RunResult, SendingHost } from "../../result/run-result.ts";
import { openVerdicts } from "../judge-run.ts";
import type { Note, Severity } from "../model/report-model.ts";
import { nameLevel } from "../model/report-view.ts";
import { findInLevel } from "./level-notes.ts";
import {
  describeRepeats,
  describeUnasked,
  type Finding,
  formatTimes,
  warnOfReconnects,
  warnOfResends,
} from "./load-notes.ts";

/** The notes of a report: created once from the results, part of its JSON, and the same in every format. */

interface Placed {
  readonly finding: Finding;
  /** Number of the run, from 0. */
  readonly run: number;
  readonly level: string;
}

/** Severities, most severe first. */
export const ORDER: readonly Severity[] = ["wrong", "caution", "detail"];

/** Data for notes in addition to the results. */
export interface NoteOptions {
  /** Warnings that were reported during the runs, as sentences without a full stop. Default: none */
  readonly warned?: readonly string[];
  /** The user's front door's names of settings. Default: settings keep their paths in the plan */
  readonly nameOf?: NameOf | undefined;
}

/** Creates the notes on runs of one plan; `wrong` first. Notes that say the same about several levels are joined. */
export function makeNotes(plan: Plan, runs: readonly RunResult[], { warned = [], nameOf }: NoteOptions = {}): Note[] {
  const levels = runs.flatMap((result, run) =>
    result.levels
      .filter(({ window }) => window.requestCount + window.failedCount > 0)
      .map((level) => ({ result, run, level, name: nameLevel(plan, level) })),
  );
  const open = openVerdicts(plan, runs);
  const placed = levels.flatMap(({ result, run, level, name }) =>
    [
      ...findInLevel(plan, result.prepared, level, open, levels.length === 1),
      ...findLost(result, level),
      ...findStandstills(result, level),
    ].map(({ texts, ...rest }): Placed => {
      return { finding: { ...rest, texts: texts.map((text) => word(text, nameOf)) }, run, level: name };
    }),
  );
  const groups = Map.groupBy(placed, ({ finding }) => sameNote(finding));
  const names = new Set(levels.map(({ name }) => name));
  const merged = [...groups.values()].map((group) =>
    mergeNotes(group, { levelCount: names.size, runCount: runs.length }),
  );
  const prepared = runs.flatMap((run) => run.prepared.warnings.map((text) => word(text, nameOf)));
  const whole = [
    ...wholeNotes("prepared", "detail", prepared),
    ...wholeNotes("warning", "detail", warned),
    ...wholeNotes("repeated-prompts", "detail", textsOf(runs, describeRepeats)),
    // A server that closes kept connections costs time in every such request.
    ...wholeNotes("sent-again", "caution", textsOf(runs, warnOfResends)),
    ...wholeNotes("unasked-response", "caution", textsOf(runs, describeUnasked)),
    ...wholeNotes("reconnected", "caution", textsOf(runs, warnOfReconnects)),
    // Where no level lacks it, it was lost between levels.
    ...runs
      .filter((result) => !result.levels.some((level) => findLost(result, level).length > 0))
      .flatMap((result) =>
        wholeNotes(AGENT_LOST, "wrong", describeLost(result).length === 0 ? [] : [toSentences(describeLost(result))]),
      ),
  ];
  return [...merged, ...whole].toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

function textsOf(runs: readonly RunResult[], describe: (run: RunResult) => string | undefined): string[] {
  return runs.flatMap((run) => describe(run) ?? []);
}

/** Makes notes on whole runs. Equal texts are one. */
function wholeNotes(code: string, severity: Severity, texts: readonly string[]): Note[] {
  return [...new Set(texts)].map((text) => ({ code, severity, levels: [], text: toSentences([text]) }));
}

/** The agent's share of the load was not sent, even if no level shows it. */
const AGENT_LOST = "agent-lost";

/** Returns the agents that were lost, in order. */
function lostOf({ hosts = [] }: RunResult): (LostShare & { readonly name: string })[] {
  return hosts
    .flatMap(({ name, lost }) => (lost === undefined ? [] : [{ name, ...lost }]))
    .toSorted((a, b) => a.afterNs - b.afterNs);
}

/** Reports that a level lacks requests that an agent would have sent, or had sent. */
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
  return [head, `${countOf(uncounted, "request")} that ${who} reported ${plural(uncounted, "is", "are")} in no row`];
}

/** Maximum number of agents that are named for the same finding. */
const MOST_NAMED = 3;

/** Finds that agents did not run for a part of a level, or between it and the one before: the others continued, so nothing else shows it. */
function findStandstills({ hosts = [], levels }: RunResult, { window }: LevelResult): Finding[] {
  const ends = levels.map((level) => level.window.endNs).filter((endNs) => endNs <= window.startNs);
  const sinceNs = Math.max(Number.NEGATIVE_INFINITY, ...ends);
  const toNs = ({ startNs, endNs, fromNs }: HostStandstill): number => fromNs + endNs - startNs;
  const isWithin = (one: HostStandstill): boolean => one.fromNs < window.endNs && toNs(one) > window.startNs;
  // The run begins when all agents are ready.
  const isBefore = (one: HostStandstill): boolean =>
    one.endNs > 0 && one.fromNs >= sinceNs && toNs(one) <= window.startNs;
  return [
    ...describeStill(hosts, isWithin, "for a part of the time"),
    ...describeStill(hosts, isBefore, "for a part of the time before the measurement"),
  ];
}

function describeStill(
  hosts: readonly SendingHost[],
  isOne: (standstill: HostStandstill) => boolean,
  part: string,
): Finding[] {
  const still = hosts.flatMap(({ name, standstills = [] }) => {
    const within = standstills.filter(isOne);
    const sumNs = within.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0);
    return within.length === 0 ? [] : [{ name, sumNs, times: formatTimes(within) }];
  });
  if (still.length === 0) return [];
  const sorted = still.toSorted((a, b) => b.sumNs - a.sumNs);
  const more = still.length > MOST_NAMED ? `; ${formatCount(still.length - MOST_NAMED)} more` : "";
  const when = `${sorted
    .slice(0, MOST_NAMED)
    .map(({ name, times }) => `${name} ${times}`)
    .join("; ")}${more}`;
  const who = still.length === 1 ? "an agent" : `${formatCount(still.length)} agents`;
  const code = "agent-stood-still";
  const texts = [`${who} did not run ${part}: ${when}`, "look at what else ran on that host"];
  return [{ code, severity: "caution", texts, kind: `${code} ${part}`, when, weight: sorted[0]?.sumNs ?? 0 }];
}

/** Returns a key that findings share if one note can describe both: they differ only in numbers, or have the same `kind`. */
function sameNote({ code, metric = "", texts, kind }: Finding): string {
  return kind ?? JSON.stringify([metric, code, withoutNumbers(texts.join(" "))]);
}

/** Returns a text without its numbers, so that texts that differ only in numbers are equal. */
export function withoutNumbers(text: string): string {
  return text.replace(NUMBERS, "0").replace(FORMS, "");
}

/** Words that differ between sentences about one thing and about several. */
const FORMS = /\b(?:is|are|was|were|has|have|does|do|it|they|them)\b|(?<=[a-z])s\b/g;

/** Numbers with the unit that follows them. */
const NUMBERS = /\d[\d.,]*(?:e[+-]?\d+)?(?: (?:us|ms|s|min|h)\b)?/g;

/**
 * Joins findings of one note about several levels: the text is that of the most severe one, and of the worst one with each other
 * cause.
 * @param of number of different levels that the runs have
 */
function mergeNotes(group: readonly Placed[], of: { readonly levelCount: number; readonly runCount: number }): Note {
  const rank = ({ finding: { severity, weight = 0 } }: Placed): number => 1e9 * ORDER.indexOf(severity) - weight;
  const sorted = group.toSorted((a, b) => rank(a) - rank(b)) as [Placed, ...Placed[]];
  const [worst] = sorted;
  const { code, severity, metric, texts } = worst.finding;
  const namesOf = (placed: readonly Placed[]): string[] => [...new Set(placed.map(({ level }) => level))];
  const isEverywhere = of.levelCount === namesOf(group).length;
  // Runs of one level may have several causes: the worst is described, with the times of all.
  const isNew = ({ finding, level }: Placed, at: number): boolean =>
    finding.when !== undefined || sorted.findIndex((one) => one.level === level) === at;
  const causes = [...Map.groupBy(sorted, ({ finding }) => finding.cause).values()]
    .filter((placed) => placed.some((one) => isNew(one, sorted.indexOf(one))))
    .map((placed) => ({
      finding: (placed[0] as Placed).finding,
      placed: group.filter((one) => placed.includes(one)),
    }));
  const parts = causes.flatMap(({ finding, placed }, at) => {
    const isSame = (one: Placed): boolean => one.finding.texts.join() === finding.texts.join();
    const same = namesOf(placed.filter(isSame));
    const others = namesOf(placed).filter((name) => !same.includes(name));
    const isWhole = isEverywhere && causes.length === 1;
    const times = placed.flatMap((one) => {
      const { when } = one.finding;
      return when === undefined || isSame(one)
        ? []
        : [`at ${one.level}${of.runCount > 1 ? ` of run ${one.run + 1}` : ""} ${when}`];
    });
    const rest = times.length > 0 ? times.join(", ") : `at ${isWhole ? "the other levels" : joinLevels(others)}`;
    // If the findings can be compared, the worst is sufficient.
    const isWorst = times.length === 0 && namesOf(group).length > same.length && finding.weight !== undefined;
    if (isWorst && at > 0) return [];
    const place = isWhole && others.length === 0 ? "" : `${isWorst ? "worst " : ""}at ${joinLevels(same)}: `;
    const [text = "", ...more] = finding.texts;
    // The remedy is not repeated.
    const extra = more.filter((one) => at === 0 || !texts.includes(one));
    const isAll = isWorst || times.length + others.length === 0;
    return [`${place}${text}`, ...extra, ...(isAll ? [] : [`likewise ${rest}`])];
  });
  return {
    code,
    severity,
    ...defined({ metric }),
    levels: namesOf(group),
    text: toSentences(parts),
  };
}

/** Joins sentences without full stops into a text. */
function toSentences(texts: readonly string[]): string {
  return texts
    .map(
      (text) =>
        `${/^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text}${/[.?!]$/.test(text) ? "" : "."}`,
    )
    .join(" ");
}
