import type { RequestParameterPlan } from "../../plan/plan.ts";
import { fileSystem } from "../../runtime/files.ts";
import { isParameterValue, PARAMETER_TYPES } from "../../service/triton/parameters.ts";
import type { GivenFlag } from "./parse.ts";
import type { Settings } from "./settings.ts";
import type { RangeValue, ValueReader } from "./values.ts";

/** Values that several flags have in common, and those with a form of their own. Each function tells the reader what is wrong. */

/** Takes one flag's value into the settings, or says what is wrong with it. */
export type FlagReader = (settings: Settings, reader: ValueReader, value: string, given: GivenFlag) => void;

/** Tells what is wrong with a range. @param startMessage the original's words for a start that is not above 0 */
export function checkRange(
  reader: ValueReader,
  flag: string,
  startMessage: string,
  range: RangeValue,
  value: string,
): void {
  if (range.start <= 0) reader.fail(flag, startMessage, value, `Write for example ${flag} 1:8:2.`);
  if (range.end !== undefined && range.end < 0)
    reader.fail(
      flag,
      `Failed to parse ${flag}. The end of the search range must be >= 0.`,
      value,
      "Give 0 for no end.",
    );
  if (range.step !== undefined && range.step <= 0)
    reader.fail(
      flag,
      `Failed to parse ${flag}. The step of the search range must be > 0.`,
      value,
      "Give a step of 1 or more.",
    );
}

/** The number of `-t` or `-c`, which give the ends of the range of concurrencies; undefined (and a problem) when it has none or may not. */
export function readDeprecatedEnd(
  settings: Settings,
  reader: ValueReader,
  flag: string,
  value: string,
): number | undefined {
  if (!settings.hasConcurrencyRange) return reader.integer(flag, flag, value);
  refuseBothLoads(reader, flag, value);
  return undefined;
}

/** Refuses one of the deprecated flags of concurrency beside its successor. */
export function refuseBothLoads(reader: ValueReader, flag: string, value: string | undefined): void {
  const message = "Cannot use both Concurrency and DeprecatedConcurrency inference load modes.";
  reader.fail(flag, message, value, "Give --concurrency-range alone.");
}

/** A whole number above 0. @param label the flag as the original's messages name it */
export function readCount(
  reader: ValueReader,
  flag: string,
  label: string,
  text: string,
  rule: string,
): number | undefined {
  const count = reader.integer(flag, label, text);
  if (count === undefined || count > 0) return count;
  reader.fail(flag, `Failed to parse ${label}. ${rule}`, text, "Give 1 or more.");
  return undefined;
}

/** `binary` or `json`, in either case of letters; undefined (and a problem) for anything else. */
export function readFormat(reader: ValueReader, flag: string, value: string): "binary" | "json" | undefined {
  const format = value.toLowerCase();
  if (format === "binary" || format === "json") return format;
  reader.fail(
    flag,
    `Failed to parse ${flag}. Unsupported type provided: '${value}'. The available options are 'binary' or 'json'.`,
    value,
    "Give binary or json.",
  );
  return undefined;
}

/** `none`, `gzip` or `deflate` into the settings. */
export function readCompression(settings: Settings, reader: ValueReader, value: string): void {
  if (value === "none" || value === "gzip" || value === "deflate") settings.compression = value;
  else
    reader.fail(
      "--grpc-compression-algorithm",
      `Failed to parse --grpc-compression-algorithm. Unsupported type provided: '${value}'. The available options are 'gzip', 'deflate', or 'none'.`,
      value,
      "Give gzip, deflate or none.",
    );
}

/** `NAME:D1,D2,…` into the settings' shapes. */
export function readShape(settings: Settings, reader: ValueReader, value: string): void {
  const colon = value.lastIndexOf(":");
  if (colon < 0) {
    reader.fail(
      "--shape",
      "Failed to parse --shape. There must be a colon after input name.",
      value,
      "Write for example --shape INPUT0:3,224,224.",
    );
    return;
  }
  const dims = value
    .slice(colon + 1)
    .split(",")
    .map((dim) => reader.integer("--shape", "--shape", dim));
  if (dims.some((dim) => dim === undefined)) return;
  if (dims.some((dim) => (dim as number) <= 0)) {
    reader.fail(
      "--shape",
      "Failed to parse --shape. The dimensions of input tensor must be > 0.",
      value,
      "Give the size of every dimension.",
    );
    return;
  }
  settings.shapes[value.slice(0, colon)] = dims as number[];
}

/** `NAME:VALUE:TYPE` into the settings' request parameters. */
export function readParameter(settings: Settings, reader: ValueReader, text: string): void {
  const [name = "", value = "", type, ...more] = text.split(":");
  if (name === "" || type === undefined || more.length > 0) {
    reader.fail(
      "--request-parameter",
      "Failed to parse --request-parameter. The value does not match <name:value:type>.",
      text,
      "Write for example --request-parameter max_tokens:256:int.",
    );
    return;
  }
  const parameter = { type, value } as RequestParameterPlan;
  if (!PARAMETER_TYPES.includes(parameter.type))
    reader.fail(
      "--request-parameter",
      `Failed to parse --request-parameter. Unsupported type provided: '${type}'.`,
      text,
      `Give one of the types ${PARAMETER_TYPES.join(", ")}.`,
    );
  else if (!isParameterValue(parameter))
    reader.fail(
      "--request-parameter",
      `Failed to parse --request-parameter. '${value}' is no ${type}.`,
      text,
      "Give a value of the type: true or false, a whole number of 64 bits, or a decimal number.",
    );
  else settings.parameters[name] = parameter;
}

/** `NAME[:VERSION],…` into the settings' composing models; blanks do not count. */
export function readComposingModels(settings: Settings, reader: ValueReader, text: string): void {
  for (const entry of text.split(",")) {
    const [name = "", version, ...more] = entry.split(":");
    const asked = { name: name.trim(), version: version?.trim() ?? "" };
    const isVersion = version === undefined || /^[1-9][0-9]*$/.test(asked.version);
    if (asked.name !== "" && isVersion && more.length === 0) {
      settings.composingModels.push(asked);
      continue;
    }
    reader.fail(
      "--bls-composing-models",
      `Failed to parse --bls-composing-models. '${entry}' is no model's name with or without a version.`,
      text,
      "Write for example --bls-composing-models modelA:3,modelB.",
    );
    return;
  }
}

/** Whether the path is that of an existing file, and not of a directory. */
export function isFile(path: string): boolean {
  try {
    return fileSystem().statSync(path).isFile();
  } catch {
    return false;
  }
}
