import { readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../plan/problem.ts";

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
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const name of entries.map((entry) => entry.name).toSorted()) {
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

function findPairs(folder: string): HostFiles[] {
  const names = readdirSync(folder).toSorted();
  return names
    .filter((name) => name.endsWith(REPORT_END))
    .flatMap((report) => {
      const stem = report.slice(0, -REPORT_END.length);
      const twin = [`${stem}.json`, stem].find((name) => names.includes(name));
      return twin === undefined ? [] : [{ profileExport: join(folder, twin), report: join(folder, report) }];
    });
}
