import { posix } from "node:path";
import { readGuide } from "./guides.ts";
import { formatMarkdown } from "./markdown.ts";

/** A topic of `rampart help`: a guide of the repository, or a chapter of one. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** The guide, from the repository's root. */
  readonly guide: string;
  /** The only chapter to print, by its heading. Absent: the whole guide. */
  readonly chapter?: string;
}

/** The topics in the order in which help lists them. */
export const TOPICS: readonly Topic[] = [
  { name: "quickstart", summary: "what Rampart is, and one example of each command", guide: "README.md" },
  { name: "scenarios", summary: "how to write and run load tests in TypeScript", guide: "scenarios/README.md" },
  {
    name: "wizard",
    summary: "how to get a scenario without writing one",
    guide: "scenarios/README.md",
    chapter: "Let the wizard write it",
  },
  {
    name: "compare",
    summary: "how to compare runs, and fail on a regression",
    guide: "scenarios/README.md",
    chapter: "Compare two runs",
  },
  {
    name: "perf_analyzer",
    summary: "perf_analyzer mode: what differs from the original, all options",
    guide: "src/cli/perf-analyzer/README.md",
  },
  {
    name: "genai-perf",
    summary: "GenAI-Perf mode: what differs from the original, all options",
    guide: "src/cli/genai-perf/README.md",
  },
  { name: "measuring", summary: "how numbers are measured and what to trust", guide: "src/measure/README.md" },
  { name: "hosts", summary: "how several cores and hosts send one load", guide: "src/run/fleet/README.md" },
  { name: "house", summary: "how the source is organised, for those who change it", guide: "src/README.md" },
];

/** A topic's text for a terminal; undefined when there is no such topic. @param columns width of the terminal */
export function formatTopic(name: string, columns: number): string | undefined {
  const topic = TOPICS.find((entry) => entry.name === name);
  if (topic === undefined) return undefined;
  const text = readGuide(topic.guide);
  const shown = topic.chapter === undefined ? text : findChapter(text, topic.chapter);
  return formatMarkdown(shown, { columns, describeLink: (target) => describeLink(topic.guide, target) });
}

/** From the heading to the next of the same level. */
function findChapter(text: string, heading: string): string {
  const chapter = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  if (chapter === undefined) throw new Error(`there is no chapter '${heading}'`);
  return chapter;
}

/** Describes a link's target for a terminal: a guide's topic, or the address itself. */
function describeLink(guide: string, target: string): string {
  const path = posix.join(posix.dirname(guide), target.replace(/#.*/, ""));
  const topic = TOPICS.find((entry) => entry.guide === path && entry.chapter === undefined);
  return topic === undefined ? target : `rampart help ${topic.name}`;
}
