import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonReport, runRampart } from "../e2e/command.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import type { MatrixRow, RowResult } from "./row.ts";

const REQUESTS = 20;
const CONCURRENCY = 2;
/** Servers may count a request a little after they answered it. */
const COUNT_LAG_MS = 5_000;
const POLL_MS = 50;

/** What Rampart notes of a server without optional parts, and how the table says it. */
const LACKS: readonly (readonly [note: RegExp, lack: string])[] = [
  [/does not report the model's configuration/, "model configuration (no batches, no sequences)"],
  [/has no statistics/, "statistics (no server times)"],
  [/does not list the extension binary_tensor_data/, "binary tensors (JSON instead)"],
];

/** Measures a row with the command under test, and compares the counts with the server's. */
export async function runRow(server: string, version: string, row: MatrixRow): Promise<RowResult> {
  const folder = makeFolder();
  const before = await row.count?.();
  const reportFile = join(folder, "report.json");
  const load = ["--request-count", `${REQUESTS}`, "--concurrency-range", `${CONCURRENCY}`, "--json", reportFile];
  const args = ["perf_analyzer", ...row.flags, ...inputsOf(row, folder), ...load];
  const { code, stderr } = await runRampart(args, { cwd: folder });
  const { completed, failed } = readCounts(reportFile);
  const isMeasured = code === 0 && completed >= REQUESTS && failed === 0;
  const counted = before === undefined ? undefined : (await waitForCount(row, before + completed)) - before;
  const about = { server, version, protocol: row.protocol, isMeasured };
  const works = isMeasured ? describeCounts(completed, counted) : "no";
  const lacks = isMeasured ? describeLacks(stderr) : (row.why ?? firstError(stderr));
  return { ...about, works, lacks, problem: findProblem(row, isMeasured, completed, counted, stderr) };
}

function inputsOf({ payload, entry, files = {} }: MatrixRow, folder: string): string[] {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const data = entry ?? (payload && { payload: [payload] });
  if (data === undefined) return [];
  const file = writeIn(folder, "inputs.json", JSON.stringify({ data: [data] }));
  return ["--input-data", file];
}

/** The counts of the run, by its report; none where it was refused and wrote none. */
function readCounts(file: string): { readonly completed: number; readonly failed: number } {
  if (!existsSync(file)) return { completed: 0, failed: 0 };
  return (JSON.parse(readFileSync(file, "utf8")) as JsonReport).requests;
}

async function waitForCount({ count }: MatrixRow, wanted: number): Promise<number> {
  const deadlineMs = Date.now() + COUNT_LAG_MS;
  for (;;) {
    const counted = (await count?.()) ?? 0;
    if (counted >= wanted || Date.now() > deadlineMs) return counted;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function describeCounts(completed: number, counted: number | undefined): string {
  return `${completed} requests${counted === undefined ? "" : `; the server counts ${counted}`}`;
}

/** What the notes of a run say that the server lacks; `—` when nothing. */
export function describeLacks(stderr: string): string {
  const notes = stderr.split("\n").filter((line) => line.startsWith("rampart: the server "));
  const lacks = notes.map((note) => LACKS.find(([text]) => text.test(note))?.[1] ?? note.slice("rampart: ".length));
  return lacks.length === 0 ? "—" : lacks.join("; ");
}

/** The first error that a run printed, without what comes before its text. */
export function firstError(stderr: string): string {
  const lines = stderr.split("\n").map((line) => /^(?:error|Error|Thread \[\d+\] had error): (.*)$/.exec(line)?.[1]);
  return lines.find((line) => line !== undefined) ?? "it ended without an error";
}

function findProblem(
  { fails, protocol }: MatrixRow,
  isMeasured: boolean,
  completed: number,
  counted: number | undefined,
  stderr: string,
): string | undefined {
  if (counted !== undefined && counted !== completed)
    return `${protocol}: the server counts ${counted} requests, the report ${completed}`;
  if (fails === undefined) return isMeasured ? undefined : `${protocol} does not work:\n${stderr}`;
  if (isMeasured) return `${protocol} works, but its row says that it fails`;
  return fails.test(stderr) ? undefined : `${protocol} fails otherwise than ${fails} says:\n${stderr}`;
}
