import { isMap } from "yaml";
import { readYaml } from "../../../plan/document/read-yaml.ts";
import { UserError, userError } from "../../../plan/problem.ts";
import type { TelemetryStatistics } from "../../../report/genai-perf/result.ts";
import { parseTelemetry } from "../../../report/genai-perf/telemetry/merge-telemetry.ts";
import { openProfileExport, type ProfileExport } from "../../../report/read/profile-export.ts";
import { readRawMembers } from "../../../report/read/raw-export.ts";
import { Asked } from "../options/asked.ts";
import { readConfigText } from "../options/config.ts";
import { DEFAULTS } from "../options/subcommands.ts";
import { ValuesBuilder } from "../options/values-builder.ts";
import type { HostFiles } from "./find-exports.ts";

/** The measurements and settings of one host. */
export interface HostRun {
  readonly files: HostFiles;
  readonly source: ProfileExport;
  /** Settings of the host, from its JSON report. */
  readonly asked: Asked;
  readonly telemetry: TelemetryStatistics | undefined;
}

/** The parts of `input_config` that a merge needs, and keys in them that are derived from others. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  model_names: [],
  endpoint: ["service_kind", "output_format"],
  perf_analyzer: [],
  // A file of prompts may not exist on this host.
  input: ["prompt_source", "synthetic_files", "payload_file", "file"],
  tokenizer: ["_enable_debug_logging"],
};

/** Settings that must be present, because requests of another kind would be measured by the wrong rules. */
const NEEDED = [["model_names"], ["endpoint", "type"], ["perf_analyzer", "stimulus"], ["input"], ["tokenizer", "name"]];

/** Reads both files of a host. @throws UserError naming the file */
export function readHost(files: HostFiles): HostRun {
  const { input_config: config, telemetry_stats: telemetry } = readRawMembers(files.report, [
    "input_config",
    "telemetry_stats",
  ]);
  if (config === undefined) throw refuse(files.report, "input_config is missing");
  return {
    files,
    source: openProfileExport(files.profileExport),
    asked: readInputConfig(config, files.report),
    telemetry: telemetry === undefined ? undefined : parseTelemetry(telemetry, files.report),
  };
}

/** Parses the text as YAML, which includes JSON, distinguishes 1.0 from 1, and checks values like a configuration file. */
function readInputConfig(text: string, path: string): Asked {
  const { document, faults } = readYaml(text);
  // JSON allows duplicate keys.
  const fault = faults.find(({ code }) => code !== "DUPLICATE_KEY");
  if (fault !== undefined) throw refuse(path, `input_config cannot be read: ${fault.message}`);
  const all: unknown = document.toJS();
  if (typeof all !== "object" || all === null) throw refuse(path, "input_config holds no settings");
  for (const key of Object.keys(all)) if (!Object.hasOwn(PARTS, key)) document.delete(key);
  const missing = NEEDED.filter((keys) => !document.hasIn(keys)).map((keys) => keys.join("."));
  if (missing.length > 0) throw refuse(path, `input_config has no ${missing.join(", ")}`);
  const input = document.get("input");
  const file = isMap(input) ? input.get("file") : undefined;
  for (const [part, keys] of Object.entries(PARTS)) {
    const node = document.get(part);
    // The configuration reader rejects anything that is not a map.
    if (isMap(node)) for (const key of keys) node.delete(key);
  }
  const builder = new ValuesBuilder(DEFAULTS);
  readConfigText(builder, String(document), `${path}, input_config`);
  if (builder.problems.length > 0) throw new UserError(builder.problems);
  const asked = new Asked(builder);
  if (asked.get("model_names").length === 0) throw refuse(path, "input_config names no model");
  if (typeof file === "string" && file !== "")
    builder.store("input.file", file, { place: path, source: "file", isFloat: false });
  return asked;
}

function refuse(path: string, message: string): UserError {
  return userError("invalid-value", path, message, "Give the unchanged file that genai-perf or rampart wrote.");
}
