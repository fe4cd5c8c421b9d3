import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AnswerTimes } from "../../../measure/answer-times.ts";
import { TokenGaps } from "../../../measure/token-gaps.ts";
import type { TokenColumns } from "../../../measure/token-metrics.ts";
import { tokenWarnings } from "../../../measure/token-warnings.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { formatGenAiPerfConsole } from "../../../report/genai-perf/console.ts";
import { formatGenAiPerfCsv } from "../../../report/genai-perf/csv.ts";
import { formatGenAiPerfJson } from "../../../report/genai-perf/json.ts";
import { familyOf } from "../../../report/genai-perf/layout.ts";
import { measureExports } from "../../../report/genai-perf/measure-export.ts";
import { type GenAiPerfResult, toGenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { openProfileExport } from "../../../report/read/profile-export.ts";
import type { RunResult } from "../../../run/observer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { CommandIo } from "../../execute.ts";
import type { GenaiSettings } from "../settings.ts";
import type { GivenSettings } from "../settings-builder.ts";
import { readingOf } from "./answer-rules.ts";
import { drawProfile } from "./plots.ts";
import type { ProfilePlace } from "./run-profile.ts";
import { toInputConfig } from "./to-input-config.ts";

/** What is printed and written of a profile that measured something. */

export interface ReportParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly place: ProfilePlace;
  readonly run: RunResult;
  /** Undefined: the server's own counts are all there is. */
  readonly tokenizer: Tokenizer | undefined;
  /** Tokens of the input of a body that does not tell itself. */
  readonly countPayload: ((payload: string) => number) | undefined;
  readonly io: CommandIo;
}

/** Measures a run's export, prints the table, and writes the files beside the export. @throws RunError when one cannot be written */
export async function reportProfile(parts: ReportParts): Promise<Measured> {
  const { settings, place, run, io } = parts;
  const gaps = settings.output.isPlotting ? new TokenGaps() : undefined;
  const measured = measure(parts, gaps);
  await writeReports(parts, measured);
  if (gaps !== undefined) {
    const name = place.files.profileExport.replace(/\.json$/, "");
    const drawn = { name, columns: measured.columns, gaps, isStreaming: settings.endpoint.isStreaming };
    const formats = settings.rampart.plotFormats;
    await drawProfile({ settings, folder: place.folder, runs: [drawn], result: measured.result, run, formats, io });
  }
  return measured;
}

/** What was measured, request by request and as statistics. */
export interface Measured {
  readonly columns: TokenColumns;
  readonly result: GenAiPerfResult;
}

/** Prints the table of results and writes their files. @throws RunError when one cannot be written */
export async function writeReports(
  { settings, given, place, io }: Pick<ReportParts, "settings" | "given" | "place" | "io">,
  measured: Measured,
): Promise<void> {
  const { folder, files } = place;
  io.out(formatGenAiPerfConsole(measured.result));
  for (const warning of tokenWarnings(measured.columns)) io.err(`rampart: ${warning}.\n`);
  const config = toInputConfig(settings, given);
  await write(join(folder, files.json), formatGenAiPerfJson(measured.result, config));
  await write(join(folder, files.csv), formatGenAiPerfCsv(measured.result));
}

function measure({ settings, place, tokenizer, countPayload }: ReportParts, gaps: TokenGaps | undefined): Measured {
  const { endpoint, input } = settings;
  const countTokens = tokenizer === undefined ? undefined : (text: string): number => tokenizer.count(text);
  const source = openProfileExport(join(place.folder, place.files.profileExport));
  const onTimes = gaps && (({ contentNs }: AnswerTimes): void => gaps.add(contentNs));
  const { kind, field, endpointType } = readingOf(settings, source);
  const columns = measureExports([source], { kind, countTokens, field, countPayload, onTimes });
  const result = toGenAiPerfResult(columns, {
    family: familyOf(kind),
    endpointType,
    isStreaming: endpoint.isStreaming,
    goodput: input.goodput ?? undefined,
  });
  return { columns, result };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new RunError(
      "output",
      `${path} cannot be written: ${messageOf(error)}`,
      "Give another folder with --artifact-dir.",
    );
  }
}
