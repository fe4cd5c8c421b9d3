import type { OutputFilesPlan } from "../../../plan/plan.ts";
import type { GenaiSettings } from "./settings.ts";

/** The files of a run besides those of its artifact folder: where they are set, and their key in the plan. */
const OWN_FILES = [
  { at: "rampart.recordsFile", name: "recordsFile", key: "records" },
  { at: "rampart.reportFile", name: "reportFile", key: "html" },
  { at: "rampart.junitFile", name: "junitFile", key: "junit" },
  { at: "rampart.markdownFile", name: "markdownFile", key: "markdown" },
] as const;

/** A file that the user asked for. */
export interface OwnFile {
  readonly at: (typeof OWN_FILES)[number]["at"];
  readonly path: string;
}

/** Returns the files that the user asked for besides those of the artifact folder. */
export function ownFilesOf({ rampart }: GenaiSettings): OwnFile[] {
  return OWN_FILES.map(({ at, name }) => ({ at, path: rampart[name] })).filter(({ path }) => path !== "");
}

/** Returns the same files for a plan. */
export function ownFilesPlan({ rampart }: GenaiSettings): OutputFilesPlan {
  return Object.fromEntries(OWN_FILES.flatMap(({ name, key }) => (rampart[name] === "" ? [] : [[key, rampart[name]]])));
}
