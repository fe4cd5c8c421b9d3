import { readdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../../../plan/problem.ts";

/** The results of one host: a profile export and the JSON report beside it. */
export interface HostFiles {
  readonly profileExport: string;
  readonly report: string;
}

const REPORT_END = "_genai_perf.json";

/** What a folder with a folder for each host holds. */
export interface FoundExports {
  /** In the order of the folders' names. */
  readonly hosts: readonly HostFiles[];
  /** Folders without both files. */
  readonly skipped: readonly string[];
}

/** Looks for the files, which belong together by name: `x.json` and `x_genai_perf.json`. @throws UserError when there are none */
export function findExports(folder: string): FoundExports {
  const hosts: HostFiles[] = [];
  const skipped: string[] = [];
  for (const name of listNames(folder, true)) {
    const pairs = findPairs(join(folder, name));
    if (pairs.length === 0) skipped.push(join(folder, name));
    hosts.push(...pairs);
  }
  if (hosts.length === 0) {
    const message = "holds no folder with a profile_export.json and its profile_export_genai_perf.json";
    const hint = "Copy each host's results into a folder of its own below it, both files together.";
    throw new UserError([{ path: "--input-directory", message, value: folder, hint }]);
  }
  return { hosts, skipped };
}

/** Names in a folder, sorted. */
function listNames(folder: string, isFoldersOnly: boolean): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (isFoldersOnly && !entry.isDirectory() ? [] : [entry.name])).toSorted();
  } catch (error) {
    const hint = "Make it readable, or leave it out.";
    throw new UserError([{ path: folder, message: `cannot be read: ${messageOf(error)}`, hint }]);
  }
}

function findPairs(folder: string): HostFiles[] {
  const names = listNames(folder, false);
  return names
    .filter((name) => name.endsWith(REPORT_END))
    .flatMap((report) => {
      const stem = report.slice(0, -REPORT_END.length);
      const twin = [`${stem}.json`, stem].find((name) => names.includes(name));
      return twin === undefined ? [] : [{ profileExport: join(folder, twin), report: join(folder, report) }];
    });
}
