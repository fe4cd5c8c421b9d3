import { closeSync, type Dirent, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../../plan/objects.ts";
import { notJson, unreadable, userError } from "../../../plan/problem.ts";
import { shorten, showValue } from "../../../plan/show-value.ts";
import { openFile, readFileText } from "../../../runtime/files.ts";
import { aiperfJson } from "./aiperf-json.ts";
import { genaiPerfJson } from "./genai-perf-json.ts";
import { jointJson } from "./joint-json.ts";
import { type MeasuredRun, REPORT_SIZE_HINT, type RunFile, type RunFormat } from "./measured-run.ts";
import { perfAnalyzerCsv } from "./perf-analyzer-csv.ts";
import { profileExportRun } from "./profile-export-run.ts";
import { rampartJson } from "./rampart-json.ts";
import { recordsRun } from "./records-run.ts";

/** Reads runs from reports of Rampart and other tools. The format is recognised by the content of the file. */

/** The formats, most detailed first: if a folder has several files of each run, only the first format is read. */
const FORMATS: readonly RunFormat[] = [
  rampartJson,
  jointJson,
  genaiPerfJson,
  aiperfJson,
  perfAnalyzerCsv,
  profileExportRun,
  recordsRun,
];

const HEAD_BYTES = 4096;
/** Folders that contain parts of runs, or means of several. */
const SKIPPED_FOLDERS = new Set(["phases", "aggregate", "sweep_aggregate", "logs"]);
const HINT = "Give the JSON report of a run, or a folder of them.";

/** Reads all runs of a file or of a folder, including its subfolders. @throws UserError naming the file when it cannot be used */
export function readRuns(path: string): readonly MeasuredRun[] {
  if (isFolder(path)) {
    const found = readFolder(path);
    if (found.length > 0) return found;
    throw userError("missing", path, "has no report that can be read", HINT);
  }
  const file = openRunFile(path);
  const format = detectFormat(file);
  if (format !== undefined) return format.read(file);
  const why = file.head.trimStart().startsWith("{") ? whyNotJson(file.readText()) : undefined;
  if (why !== undefined) throw notJson(path, why, "The file may be cut off: write it again.");
  const document = file.readDocument();
  if (document?.["comparisons"] !== undefined) {
    const message = "is the JSON of a comparison, which has its verdict itself";
    throw userError("mismatch", path, message, "Give the reports of the runs that it compares.");
  }
  throw userError("invalid-value", path, describeOther(document, file.head), HINT);
}

/** Describes a file that is not a report. @param document its JSON object, if it is one @param head the beginning of its text */
function describeOther(document: Readonly<Record<string, unknown>> | undefined, head: string): string {
  const [line = ""] = head.trimStart().split("\n", 1);
  if (line === "") return "is empty";
  if (document === undefined)
    return `is not a report; it begins with ${showValue(shorten(line.trimEnd(), MOST_SHOWN))}`;
  const version = VERSION_FIELDS.find((name) => name in document);
  const what = version === undefined ? "no version" : `${version} ${showValue(document[version])}`;
  const fields = Object.keys(document).filter((name) => name !== version);
  const first = fields.slice(0, 4).map((name) => shorten(name, MOST_SHOWN));
  return `is JSON but not a report: it has ${[what, ...first].join(", ")}${fields.length > first.length ? ", …" : ""}`;
}

/** Maximum number of characters quoted from the file. */
const MOST_SHOWN = 40;

/** Fields that contain the version of a document. */
const VERSION_FIELDS = ["version", "schema_version", "schemaVersion", "$schema", "schema"];

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, error, HINT, REPORT_SIZE_HINT);
  }
}

/** Reads the files of the best format in a folder, because several may belong to one run; if none, its subfolders. */
function readFolder(folder: string): readonly MeasuredRun[] {
  const read = (): Dirent[] => readdirSync(folder, { withFileTypes: true });
  const entries = attempt(folder, read).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries
    .filter((entry) => !entry.isDirectory() && /\.(json|csv)$/.test(entry.name))
    .map((entry) => openRunFile(join(folder, entry.name)));
  const known = files.map((file) => ({ file, format: detectFormat(file) }));
  const best = FORMATS.find((format) => known.some((one) => one.format === format));
  if (best !== undefined) return known.flatMap(({ file, format }) => (format === best ? best.read(file) : []));
  return entries
    .filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name))
    .flatMap((entry) => readFolder(join(folder, entry.name)));
}

function detectFormat(file: RunFile): RunFormat | undefined {
  const byHead = FORMATS.find((format) => format.detectHead?.(file.head) === true);
  if (byHead !== undefined) return byHead;
  const document = file.readDocument();
  return document && FORMATS.find((format) => format.detectDocument?.(document) === true);
}

function openRunFile(path: string): RunFile {
  let text: string | undefined;
  let parsed: { readonly document: Readonly<Record<string, unknown>> | undefined } | undefined;
  // A pipe can be read once.
  const isRegular = statSync(path, { throwIfNoEntry: false })?.isFile() !== false;
  const readText = (): string => {
    text ??= attempt(path, () => readFileText(path));
    return text;
  };
  return {
    path,
    head: isRegular ? attempt(path, () => readHead(path)) : readText().slice(0, HEAD_BYTES),
    readText,
    readDocument: () => {
      parsed ??= { document: parseObject(readText()) };
      return parsed.document;
    },
  };
}

function readHead(path: string): string {
  const fd = openFile(path);
  try {
    const bytes = new Uint8Array(HEAD_BYTES);
    const count = readSync(fd, bytes);
    return new TextDecoder().decode(bytes.subarray(0, count));
  } finally {
    closeSync(fd);
  }
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(path, error, HINT, REPORT_SIZE_HINT);
  }
}

function whyNotJson(text: string): unknown {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
