import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatJson } from "../../../service/json-text.ts";
import { intervalsFileOf, wordsOf } from "../options/passed-flags.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { measuredShared } from "../options/shared-settings.ts";
import { templateFileOf } from "../template-options.ts";

/**
 * Computes the identity of a run, to decide whether its results can be reused: all settings that affect what is sent, where, when and how
 * it is measured, and the sizes and dates of input files. Excludes settings that only affect where results go and how they are shown, and
 * the sweep that the run belongs to. GenAI-Perf also ignores the URL, and so reuses one server's results for another.
 */
export function fingerprintOf(settings: GenaiSettings, given: GivenSettings): string {
  const { endpoint, perfAnalyzer, input, tokenizer, rampart, modelNames, passed } = settings;
  const { stimulus, stabilityPct, measurement, warmupRequests } = perfAnalyzer;
  const { searchLimits: _a, plotFormats: _b, shared: _c, ...own } = rampart;
  // Words that are no flags have always been part of it.
  const stray = passed.positional.length === 0 ? [] : ["--", ...passed.positional];
  const parts = {
    modelNames,
    endpoint,
    load: {
      stimulus,
      stabilityPct,
      measurement,
      warmupRequests,
      passThrough: [...passed.given.flatMap(wordsOf), ...stray],
    },
    input,
    // The format is random unless it is given.
    hasImageFormat: given.has("input.image.format"),
    inputFiles: describeFiles(input.file),
    intervals: describeFiles(intervalsFileOf(passed) ?? ""),
    template: describeFiles(templateFileOf(settings) ?? ""),
    tokenizer,
    own: { ...own, ...measuredShared(settings) },
  };
  return createHash("sha256").update(formatJson(parts)).digest("hex");
}

/** Returns sizes and dates; empty if the file does not exist. */
function describeFiles(file: string): string[] {
  const path = file.replace(/^(?:payload|conversations):/, "");
  const found = path === "" || path.startsWith("synthetic:") ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [`${found.size} ${found.mtimeMs}`];
  let names: string[];
  try {
    names = readdirSync(path);
  } catch {
    // The run reports it.
    return [];
  }
  return names.toSorted().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
