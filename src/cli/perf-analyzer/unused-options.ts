import { kindOf } from "./kinds/kinds.ts";
import { OPTIONS } from "./options/table.ts";
import type { PerfAnalyzerOption, Settings } from "./settings.ts";

/** Returns the given options that have no effect with the service kind. perf_analyzer ignores its own ones. */
export function unusedOptions(settings: Settings): readonly PerfAnalyzerOption[] {
  const kind = kindOf(settings);
  return OPTIONS.filter(
    ({ names: [name], feature, isChanged }) =>
      ((feature !== undefined && !kind.features.includes(feature)) || kind.ignores?.(name) === true) &&
      settings.given.has(name) &&
      isChanged?.(settings) === true,
  );
}
