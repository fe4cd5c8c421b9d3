import type { MetricComparison } from "./comparison.ts";
import {
  COMPARISON_COLUMNS,
  type ComparedSides,
  comparisonCells,
  describeDifferences,
  describeRest,
  describeWarnings,
} from "./console.ts";
import {
  CONFIDENCE_NOTE,
  describeLimitVerdict,
  describeNeeds,
  describeSide,
  describeTooFewRuns,
  nameLimitState,
  shownMetrics,
  summarizeVerdicts,
} from "./words.ts";

/** Formats comparisons as Markdown for a pull request: verdicts first, and a table for each level. */
export function formatMarkdown(sides: readonly ComparedSides[]): string {
  return `${sides.map(formatSides).join("\n\n")}\n`;
}

function formatSides({ comparison, limits, isAll }: ComparedSides): string {
  const { base, next, levels } = comparison;
  const named = new Set(limits.map(({ limit }) => limit.metric.name));
  const shown = levels.map((level) => shownMetrics(level, named, isAll));
  const [title, ...differences] = describeDifferences(comparison);
  const blocks = [
    `### ${escapeMarkdown(describeSide(next))} against ${escapeMarkdown(describeSide(base))}`,
    `**${summarizeVerdicts(shown.flat())}**`,
    limits.map((one) => `- **${nameLimitState(one.state)}** ${escapeMarkdown(describeLimitVerdict(one))}`).join("\n"),
    title === undefined
      ? ""
      : `${title}\n\n${differences.map((line) => `- ${escapeMarkdown(line.trim())}`).join("\n")}`,
    describeWarnings(comparison).map(escapeMarkdown).join("\n\n"),
    ...levels.map((level, index) => formatLevel(level.label, shown[index] ?? [])),
    describeRest(comparison).map(escapeMarkdown).join("\n\n"),
    describeTooFewRuns(comparison) === undefined ? CONFIDENCE_NOTE : "",
  ];
  return blocks.filter((block) => block !== "").join("\n\n");
}

/** Formats a level; empty without a metric that both sides have. */
function formatLevel(label: string, metrics: readonly MetricComparison[]): string {
  if (metrics.length === 0) return "";
  const row = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  const rows = metrics.map((metric) => {
    const cells = comparisonCells(metric);
    const isNews = metric.verdict === "worse" || metric.verdict === "better";
    return row(isNews ? [...cells.slice(0, -1), `**${cells.at(-1)}**`] : cells);
  });
  const table = [row(COMPARISON_COLUMNS), "| --- | ---: | ---: | ---: | ---: | --- |", ...rows].join("\n");
  return [`#### ${escapeMarkdown(label)}`, table, ...describeNeeds(metrics).map(escapeMarkdown)].join("\n\n");
}

/** Keeps names of files and models from being markup. Bold verdicts have none in them. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`_[\]<>|]|(?<!\*)\*(?!\*)/g, "\\$&").replaceAll("\n", " ");
}
