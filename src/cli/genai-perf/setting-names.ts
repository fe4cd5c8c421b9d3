import type { SettingPath } from "../../plan/messages.ts";
import { OPTIONS as PASSED_OPTIONS } from "../perf-analyzer/options/table.ts";
import { inPerfAnalyzer } from "../perf-analyzer/setting-names.ts";
import type { GenaiOption } from "./options/genai-option.ts";
import { ALL_OPTIONS } from "./options/subcommands.ts";
import { PASSED_REFUSALS } from "./plan/passed-refusals.ts";

/** Names for settings without a single option, or that read better as a phrase. */
const PHRASES: Readonly<Partial<Record<SettingPath, string>>> = {
  "inputs.file": "--input-file",
  "inputs.file=other": "give --input-file payload:FILE or conversations:FILE",
  "inputs.file=rankings": "give --input-file synthetic:queries,passages",
  "load.kind=sessions": "--session-concurrency",
  "target.apiKeyEnv": '--api-key-env NAME (the environment variable that holds it) or -H "Authorization: Bearer KEY"',
  "target.kind=openai": "--endpoint-type chat",
  "target.kind=triton": "--endpoint-type kserve",
  "target.model": "-m",
  "target.protocol=grpc": "--endpoint-type kserve",
  "target.protocol=http": "an --endpoint-type over HTTP, such as chat",
  "target.tls=false": "leave --ssl-grpc-use-ssl out",
  "target.url=http": "write http:// in --url",
  "target.url=https": "write https:// in --url",
};

/** Returns the name of the option for a setting, with `after --` for an option of perf_analyzer. Undefined if there is none. */
export function inGenaiPerf(path: SettingPath): string | undefined {
  const flag = ALL_OPTIONS.find(({ setting }: GenaiOption) => setting === path)?.names?.find((name) =>
    name.startsWith("--"),
  );
  const passed = PASSED_OPTIONS.find(({ setting, isRampart }) => setting === path && isRampart !== true)?.names[0];
  const isPassed = passed !== undefined && !(passed in PASSED_REFUSALS);
  const inPassed = path.startsWith("target.tls=") ? inPerfAnalyzer(path) : isPassed ? passed : undefined;
  return PHRASES[path] ?? flag ?? (inPassed && `${inPassed} after --`);
}
