import { isObject } from "../../../plan/objects.ts";
import { HIDDEN_VALUE, isSecretName } from "../../../plan/secrets.ts";
import { PythonFloat, type PythonJson } from "../../../report/genai-perf/python-format.ts";
import { JsonNumber } from "../../../service/json-text.ts";
import { endpointPath } from "../endpoints.ts";
import { loadOf, type Stimulus } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import type { KeyedOption } from "../options/genai-option.ts";
import type { Sweep } from "../options/sweeps.ts";
import { isGroup, RAMPART_KEY, YAML_KEYS, type YamlGroup, type YamlKey } from "../options/yaml-keys.ts";

/** Returns the `input_config` of profile_export_genai_perf.json in GenAI-Perf's order, without the secrets in headers. */
export function toInputConfig(asked: Asked): PythonJson {
  const groups = YAML_KEYS.filter(({ key }) => key !== RAMPART_KEY);
  const all = exportEntries(groups, asked);
  const { model_names, analyze, endpoint, input, tokenizer, ...others } = all as Record<string, object>;
  const [model = ""] = asked.get("model_names");
  const config = {
    model_names,
    subcommand: asked.subcommand === "process-export-files" ? "process" : asked.subcommand,
    verbose: asked.get("-v"),
    template_filename: asked.get("-f"),
    analyze: { sweep_parameters: analyze },
    endpoint: { ...endpoint, ...inferredEndpoint(asked, model) },
    perf_analyzer: others.perf_analyzer,
    input: { ...input, ...inferredInput(asked.input.file) },
    output: others.output,
    tokenizer: { ...tokenizer, name: asked.get("tokenizer.name") || model, _enable_debug_logging: true },
    process: others.process,
  };
  return config as PythonJson;
}

function inferredEndpoint(asked: Asked, model: string): Record<string, string> {
  const { serviceKind, outputFormat } = asked.type;
  return {
    custom: endpointPath(asked.endpoint.type, asked.get("endpoint.custom"), model),
    service_kind: serviceKind,
    output_format: outputFormat ?? asked.endpoint.backend,
  };
}

function inferredInput(file: string): Record<string, unknown> {
  const [, prefix, rest = ""] = /^(synthetic|payload):(.*)$/s.exec(file) ?? [];
  return {
    prompt_source: file === "" || prefix === "synthetic" ? "synthetic" : (prefix ?? "file"),
    synthetic_files: prefix === "synthetic" ? rest.split(",") : [],
    payload_file: prefix === "payload" ? normalizePath(rest) : "",
  };
}

function exportEntries(entries: readonly (YamlKey | YamlGroup)[], asked: Asked): Record<string, unknown> {
  return Object.fromEntries(
    entries.map((entry) => [
      entry.key,
      isGroup(entry) ? exportEntries(entry.entries, asked) : exportField(entry.option, asked),
    ]),
  );
}

function exportField({ key, kind, isFloat }: KeyedOption, { values, given }: Asked): unknown {
  const value = values.get(key);
  const from = given.get(key);
  const number = from?.isFloat === true || isFloat === true ? floatUnlessFile : same;
  switch (kind) {
    case "stimulus":
      return exportStimulus(value as Stimulus, from?.isFloat === true);
    case "sweeps":
      return Object.fromEntries((value as readonly Sweep[]).map((sweep) => [sweep.type, exportSweep(sweep)]));
    case "headers":
      return (value as string[]).length === 0 ? "" : (value as string[]).map(hideSecret);
    case "limits":
      return value === null ? "" : mapValues(value as Record<string, number>, toFloat);
    case "path":
    case "file":
      return value === "" ? "" : normalizePath(String(value));
    default:
      break;
  }
  if (Array.isArray(value)) return value.map((item) => (typeof item === "number" ? number(item) : item));
  return typeof value === "number" ? number(value) : blankNulls(value);

  /** A ratio given as an integer in a file stays an integer. */
  function floatUnlessFile(item: number): unknown {
    return from?.source === "file" && !from.isFloat ? item : toFloat(item);
  }
}

/** GenAI-Perf writes what is null as an empty text, also within extra inputs. */
function blankNulls(value: unknown): unknown {
  if (value === null) return "";
  return isObject(value) && !(value instanceof JsonNumber) ? mapValues(value, blankNulls) : value;
}

function toFloat(value: number): PythonFloat {
  return new PythonFloat(value);
}

function same(value: number): unknown {
  return value;
}

function exportStimulus({ kind, value }: Stimulus, isFloat: boolean): Record<string, unknown> {
  if (value === undefined) return { [kind]: "" };
  return { [kind]: isFloat && loadOf(kind).number === "decimal" ? toFloat(value) : value };
}

function exportSweep(sweep: Sweep): unknown {
  return sweep.kind === "list" ? sweep.values : { min: sweep.min, max: sweep.max };
}

/** Returns a header (`Name:Value`) for display, without its value if it may be a secret. */
function hideSecret(header: string): string {
  const name = header.slice(0, Math.max(0, header.indexOf(":")));
  return isSecretName(name) ? `${name}:${HIDDEN_VALUE}` : header;
}

function mapValues<T>(record: Readonly<Record<string, T>>, map: (value: T) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** Formats a path like Python's pathlib: without `./`, double or trailing slashes. */
function normalizePath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const joined = parts.join("/");
  if (path.startsWith("/")) return `/${joined}`;
  return joined === "" ? "." : joined;
}
