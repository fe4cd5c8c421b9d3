import type { VerdictState } from "../../measure/verdict-state.ts";
import { countOf, plural } from "../../plan/units.ts";
import { EXIT } from "../../result/exit-codes.ts";
import type { ReportVerdict } from "../judge-run.ts";
import { countJudged } from "../model/values.ts";
import { type ReasonJson, worstFirst } from "../schema/report-schema.ts";
import type { PlacedMetric } from "./comparison.ts";
import {
  describeNeeds,
  formatChange,
  hasVerdicts,
  measuredOfLimit,
  NOTHING_SHARED,
  nameVerdict,
  placedMetrics,
  summarizeVerdicts,
} from "./comparison-text.ts";
import type { ChangeLimitState, ChangeLimitVerdict, ComparedSides } from "./limits.ts";

/** A metric that a strict comparison without limits judges. */
export interface StrictMetric extends PlacedMetric {
  readonly state: VerdictState;
}

/** Returns the metrics of the first screen, which a strict comparison judges if no limit is given: none may be worse or undecided. */
export function judgeStrictly({ comparison, limits }: ComparedSides): StrictMetric[] {
  if (limits.length > 0) return [];
  return placedMetrics({ comparison, limits, isAll: false }).map((placed) => {
    const { verdict } = placed.metric;
    const isOpen = verdict === "inconclusive" || !hasVerdicts(comparison);
    return { ...placed, state: verdict === "worse" ? "fail" : isOpen ? "unresolved" : "pass" };
  });
}

/** Judges candidates against one base. @param isStrict fails for an open limit, or without limits for a worse or unresolved metric */
export function judgeComparison(sides: readonly ComparedSides[], isStrict: boolean): ReportVerdict {
  const reasons = reasonsOf(sides, isStrict);
  const strict = isStrict ? sides.filter(({ limits }) => limits.length === 0).map(judgeStrictly) : [];
  if (strict.length > 0) return { ...judgeMetrics(strict, describeChanges(sides)), reasons };
  const limits = sides.flatMap((side) => side.limits);
  const has = (state: ChangeLimitState): boolean => limits.some((one) => one.state === state);
  const headline = [describeLimits(limits), describeChanges(sides)].filter((text) => text !== "").join("; ");
  if (has("broken")) return { name: "failed", headline, reasons, exitCode: EXIT.assertionFailed };
  const isOpen = has("undecidable") || (isStrict && has("unresolved"));
  if (isOpen || has("unresolved"))
    return { name: "unresolved", headline, reasons, exitCode: isOpen ? EXIT.unstable : EXIT.passed };
  return { name: limits.length === 0 ? "measured" : "passed", headline, reasons, exitCode: EXIT.passed };
}

/** Returns the reasons why a comparison did not pass: each limit, or each metric of a strict comparison without limits. */
function reasonsOf(sides: readonly ComparedSides[], isStrict: boolean): ReasonJson[] {
  const all = sides.flatMap((side): ReasonJson[] => {
    const of = sides.length > 1 ? `${side.comparison.next.name}: ` : "";
    const ofLimits = side.limits.flatMap((verdict): ReasonJson[] => {
      if (verdict.state === "kept") return [];
      const state = verdict.state === "broken" ? "fail" : "unresolved";
      return [{ state, code: "limit", text: `${of}${verdict.limit.text}: ${measuredOfLimit(verdict)}` }];
    });
    const ofMetrics = (isStrict ? judgeStrictly(side) : []).flatMap(({ level, metric, state }): ReasonJson[] => {
      const { metric: named, verdict, change } = metric;
      const text = `${of}${named.label} at ${level}: ${nameVerdict(verdict)}, ${formatChange(change)}`;
      return state === "pass" ? [] : [{ state, code: "metric", text }];
    });
    if (isStrict && side.limits.length === 0 && judgeStrictly(side).length === 0)
      ofMetrics.push({ state: "unresolved", code: "metric", text: `${of}${NOTHING_SHARED}` });
    return [...ofLimits, ...ofMetrics];
  });
  return worstFirst(all);
}

/** @param sides the metrics of each side. A side without any is unresolved, because nothing was compared */
function judgeMetrics(sides: readonly StrictMetric[][], headline: string): Omit<ReportVerdict, "reasons"> {
  const metrics = sides.flat();
  if (metrics.some(({ state }) => state === "fail"))
    return { name: "failed", headline, exitCode: EXIT.assertionFailed };
  if (metrics.some(({ state }) => state === "unresolved") || sides.some(({ length }) => length === 0)) {
    const needs = describeNeeds(metrics);
    return {
      name: "unresolved",
      headline: needs === undefined ? headline : `${headline}. ${needs.text}`,
      exitCode: EXIT.unstable,
    };
  }
  return { name: "passed", headline, exitCode: EXIT.passed };
}

function describeLimits(limits: readonly ChangeLimitVerdict[]): string {
  if (limits.length === 0) return "";
  const broken = limits.filter(({ state }) => state === "broken").length;
  const kept = limits.filter(({ state }) => state === "kept").length;
  const all = limits.length;
  if (broken > 0) return countJudged(broken, all, "limit", "is broken");
  if (kept < all) return countJudged(all - kept, all, "limit", "is unresolved");
  return plural(all, "the limit holds", `all ${countOf(all, "limit")} hold`);
}

/** Maximum number of metrics that got worse in the headline: those with a limit, then the first ones. */
const MOST_NAMED = 2;

function describeChanges(sides: readonly ComparedSides[]): string {
  const judged = sides.filter(({ comparison }) => hasVerdicts(comparison));
  const isCompared = sides.some(({ comparison }) => comparison.levels.some(({ metrics }) => metrics.length > 0));
  if (judged.length === 0 && isCompared) return "values and changes without verdicts, because a side has one run";
  const metrics = judged.flatMap((side) => {
    const candidate = sides.length > 1 ? `${side.comparison.next.name}: ` : "";
    return placedMetrics(side).map((placed) => ({ ...placed, candidate }));
  });
  const worse = metrics.filter(({ metric }) => metric.verdict === "worse");
  const isOneLevel = new Set(metrics.map(({ level }) => level)).size === 1;
  const isLimited = ({ metric }: PlacedMetric): boolean =>
    sides.some(({ limits }) => limits.some(({ limit }) => limit.metric.name === metric.metric.name));
  const names = [...worse.filter(isLimited), ...worse.filter((one) => !isLimited(one))]
    .slice(0, MOST_NAMED)
    .map(({ level, metric, candidate }, index, all) => {
      const place = isOneLevel ? "" : ` at ${level}`;
      return `${candidate === all[index - 1]?.candidate ? "" : candidate}${metric.metric.label} ${formatChange(metric.change)}${place}`;
    });
  const counts = summarizeVerdicts(metrics.map(({ metric }) => metric));
  if (metrics.length > 0 && metrics.every(({ metric }) => metric.verdict === "inconclusive"))
    return `${counts}: more runs on each side would show what differs`;
  if (names.length === 0) return counts;
  const which = `${names.join(", ")}${worse.length > MOST_NAMED ? ", …" : ""}`;
  return counts.replace(/^\d+ worse/, (text) => `${text} (${which})`);
}
