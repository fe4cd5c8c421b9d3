import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatJson } from "../../../service/json-text.ts";
import { intervalsFileOf } from "../lift-load.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { templateFileOf } from "../template-options.ts";

/**
 * What two runs have in common when the results of one can stand for the other: all settings that decide what is sent, where, when and how
 * it is measured, and the input files' sizes and dates. Not what decides only where results go and how they are shown, nor the sweep that the
 * run is part of. The original leaves out the URL as well, and takes one server's results for another's.
 */
export function fingerprintOf(settings: GenaiSettings, given: GivenSettings): string {
  const { endpoint, perfAnalyzer, input, tokenizer, rampart, modelNames, passThrough } = settings;
  const { stimulus, stabilityPct, measurement, warmupRequests } = perfAnalyzer;
  const { searchLimits: _a, isLive: _b, isDryRun: _c, plotFormats: _d, recordsFile: _e, ...own } = rampart;
  const parts = {
    modelNames,
    endpoint,
    load: { stimulus, stabilityPct, measurement, warmupRequests, passThrough },
    input,
    // Drawn at random when nobody gave one.
    hasImageFormat: given.has("input.image.format"),
    inputFiles: describeFiles(input.file),
    intervals: describeFiles(intervalsFileOf(passThrough) ?? ""),
    template: describeFiles(templateFileOf(settings) ?? ""),
    tokenizer,
    own,
  };
  return createHash("sha256").update(formatJson(parts)).digest("hex");
}

/** Sizes and dates; empty where there is no file. */
function describeFiles(file: string): string[] {
  const path = file.replace(/^(?:payload|conversations):/, "");
  const found = path === "" || path.startsWith("synthetic:") ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [`${found.size} ${found.mtimeMs}`];
  let names: string[];
  try {
    names = readdirSync(path);
  } catch {
    // The run tells it.
    return [];
  }
  return names.toSorted().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
