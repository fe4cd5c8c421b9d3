import { LEVEL_UNITS } from "../../load/level-units.ts";
import { inferPerSec } from "../../measure/derived-values.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { formatStreamNumber, toWholeUs } from "../number-format.ts";
import { meanServerTimes, serverColumnNames } from "./server-columns.ts";

/** Parts of the composing models' CSV files, which have a row per level with server times only. */
export interface ComposingCsvParts {
  /** Path of the measured model's file. */
  readonly csvFile: string;
  readonly batchSize: number;
  readonly levelUnit: LevelResult["unit"];
  readonly isResponseCacheEnabled: boolean;
  /** Ordered like the rows. */
  readonly levels: readonly LevelResult[];
}

/** Returns a file for each composing model, in the folder of the measured model's file: for `a/out.csv`, `a/MODEL_v1.out.csv`. */
export function formatComposingCsv(parts: ComposingCsvParts): { readonly path: string; readonly text: string }[] {
  const models: ServerDelta[] = [];
  for (const { window } of parts.levels) {
    if (window.server === undefined) continue;
    for (const delta of flattenComposing(window.server)) if (!models.some(isLike(delta))) models.push(delta);
  }
  const slash = parts.csvFile.lastIndexOf("/") + 1;
  const [folder, file] = [parts.csvFile.slice(0, slash), parts.csvFile.slice(slash)];
  return models.map((model) => ({
    path: `${folder}${model.name}_v${model.version === "" ? "unknown" : model.version}.${file}`,
    text: [formatHeader(parts), ...parts.levels.map((level) => formatRow(level, model, parts))]
      .map((row) => `${row.join(",")}\n`)
      .join(""),
  }));
}

function isLike(model: ServerDelta): (other: ServerDelta) => boolean {
  return ({ name, version }) => name === model.name && version === model.version;
}

function formatHeader({ levelUnit, isResponseCacheEnabled }: ComposingCsvParts): string[] {
  return [
    LEVEL_UNITS[levelUnit].title,
    "Inferences/Second",
    "Client Send",
    ...serverColumnNames(isResponseCacheEnabled),
    "Client Recv",
  ];
}

function formatRow(
  { level, window }: LevelResult,
  model: ServerDelta,
  { batchSize, isResponseCacheEnabled }: ComposingCsvParts,
): (string | number)[] {
  const top = window.server;
  const delta = top === undefined ? undefined : flattenComposing(top).find(isLike(model));
  const times = delta === undefined ? undefined : meanServerTimes(delta);
  const totalNs = delta === undefined || delta.successCount === 0 ? 0 : delta.successNs / delta.successCount;
  // Its rate is proportional to the number of its inferences per inference of the measured model.
  const ratio =
    top === undefined || delta === undefined || top.successCount === 0 ? 0 : delta.successCount / top.successCount;
  return [
    formatStreamNumber(level),
    formatStreamNumber(ratio * inferPerSec(window, batchSize)),
    0,
    toWholeUs(times === undefined ? 0 : Math.max(0, Math.floor(totalNs) - times.accountedNs)),
    ...(times?.columnsNs(isResponseCacheEnabled) ?? new Array<number>(isResponseCacheEnabled ? 6 : 4).fill(0)).map(
      toWholeUs,
    ),
    0,
  ];
}
