import { closeSync, readdirSync, readSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { messageOf, type Problem, problem, UserError, userError } from "../../../plan/problem.ts";
import { openFile } from "../../../runtime/files.ts";

/** The results of one host: a profile export and the JSON report beside it. */
export interface HostFiles {
  /** Name of the host's folder. */
  readonly host: string;
  readonly profileExport: string;
  readonly report: string;
}

const MOST_SHOWN = 5;
const REPORT_END = "_genai_perf.json";

/** Contents of a folder that has one folder per host. */
export interface FoundExports {
  /** Sorted by folder name. */
  readonly hosts: readonly HostFiles[];
  /** Folders that lack one of the two files. */
  readonly skipped: readonly string[];
}

/**
 * Finds the files, which are paired by name: `x.json` and `x_genai_perf.json`. They are in the host's folder or in a folder inside it, for
 * example when a whole artifact folder was copied.
 *
 * @throws UserError if there are none, or if a host has several runs
 */
export function findExports(folder: string): FoundExports {
  const hosts: HostFiles[] = [];
  const skipped: string[] = [];
  const problems: Problem[] = [];
  for (const host of listNames(folder, true)) {
    const path = join(folder, host);
    const pairs = findHostPairs(path);
    const [first] = pairs;
    const halves = first === undefined ? findHalves(path) : [];
    if (halves.length > 0) problems.push(...halves);
    else if (first === undefined) skipped.push(path);
    else if (pairs.length === 1) hosts.push({ host, ...first });
    else problems.push(describeSeveral(path, pairs));
  }
  if (problems.length > 0) throw new UserError(problems);
  if (hosts.length === 0) {
    const message = "holds no folder with a profile_export.json and its profile_export_genai_perf.json";
    const hint =
      "Copy each host's results, or its artifact folder, into a folder of its own below it, both files together.";
    throw userError("missing", { setting: "merge.folder" }, message, hint, folder);
  }
  return { hosts, skipped };
}

/** Returns the names in a folder, sorted. */
function listNames(folder: string, isFoldersOnly: boolean): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (isFoldersOnly && !entry.isDirectory() ? [] : [entry.name])).toSorted();
  } catch (error) {
    const hint = "Make it readable, or leave it out.";
    throw userError("unreadable", folder, `cannot be read: ${messageOf(error)}`, hint);
  }
}

type Pair = Omit<HostFiles, "host">;

function findHostPairs(folder: string): Pair[] {
  const pairs = findPairs(folder);
  return pairs.length > 0 ? pairs : listNames(folder, true).flatMap((name) => findPairs(join(folder, name)));
}

/** Reports exports without a report, and the reverse, in a host's folder or one level below. Skipping them would lose results. */
function findHalves(path: string): Problem[] {
  const folders = [path, ...listNames(path, true).map((name) => join(path, name))];
  return folders.flatMap((folder) =>
    listNames(folder, false).flatMap((name): Problem[] => {
      const isReport = name.endsWith(REPORT_END);
      if (!isReport && !isExport(join(folder, name))) return [];
      const stem = name.replace(isReport ? REPORT_END : /\.json$/, "");
      const missing = isReport
        ? `its profile export ${stem}.json`
        : `its report ${stem}${REPORT_END} with the settings`;
      const hint = "Copy both files of the run, or remove the folder.";
      return [problem("missing", join(folder, name), `${missing} is missing`, hint)];
    }),
  );
}

/** Reports whether a file is a profile export, by its name or its first bytes. */
function isExport(path: string): boolean {
  if (basename(path) === "profile_export.json") return true;
  if (!path.endsWith(".json")) return false;
  try {
    const fd = openFile(path);
    try {
      const bytes = new Uint8Array(HEAD_BYTES);
      return /^\s*\{\s*"experiments"/.test(new TextDecoder().decode(bytes.subarray(0, readSync(fd, bytes))));
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

const HEAD_BYTES = 64;

function describeSeveral(path: string, pairs: readonly Pair[]): Problem {
  const names = pairs.map(({ profileExport }) => relative(path, profileExport));
  const shown = names.length > MOST_SHOWN ? [...names.slice(0, MOST_SHOWN), "…"] : names;
  const message = `holds several runs of one host, which did not run at the same time: ${shown.join(", ")}`;
  const hint = "Keep the one to merge. Runs that did run at the same time need a folder each.";
  return problem("conflict", path, message, hint);
}

function findPairs(folder: string): Pair[] {
  const names = listNames(folder, false);
  return names
    .filter((name) => name.endsWith(REPORT_END))
    .flatMap((report) => {
      const stem = report.slice(0, -REPORT_END.length);
      const twin = [`${stem}.json`, stem].find((name) => names.includes(name));
      return twin === undefined ? [] : [{ profileExport: join(folder, twin), report: join(folder, report) }];
    });
}
