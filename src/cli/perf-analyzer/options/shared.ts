import { defined } from "../../../plan/objects.ts";
import {
  defaultTextOf,
  formatNotation,
  type GivenValue,
  type Notation,
  readNotation,
  type SharedOption,
  toPlanValue,
} from "../../options/shared-option.ts";
import { sharedOptions } from "../../options/shared-options.ts";
import { option, type Place, type UngroupedOption, type ValueReader } from "../settings.ts";
import { choice, decimal, filled, GIVE_FILE, on, text, whole } from "./readers.ts";

type Read = (reader: ValueReader) => string | number | true | undefined;

const READERS: Readonly<Record<SharedOption["kind"], (shared: SharedOption) => Read>> = {
  switch: () => on,
  file: () => filled(GIVE_FILE),
  duration: () => readNotated("duration"),
  percent: () => readNotated("percent"),
  whole: (shared) => whole(...range(shared)),
  decimal: (shared) => decimal(...range(shared)),
  choice: ({ choices = [] }) => choice(choices, { rule: (given) => `Unsupported type provided: '${given}'.` }).parse,
  text: () => text,
};

/** Options that Rampart's other commands also have. */
export const SHARED: readonly UngroupedOption[] = sharedOptions("perf_analyzer").map(toOption);

/** Returns a shared option as an option of this mode. Options without a setting are found in `given`. */
function toOption(shared: SharedOption): UngroupedOption {
  const { name, help, kind, setting, value, choices, unit, meant, isRepeatable } = shared;
  const shown = { names: [`--${name}`] as const, isRampart: true, help, ...(meant && { meant }) };
  if (setting === undefined) return { ...shown, read: () => {} };
  const defaultText = defaultTextOf(shared, false);
  const read = READERS[kind](shared);
  const entry = {
    ...shown,
    ...defined({ choices }),
    ...(value === undefined || choices !== undefined ? {} : { value }),
    ...defined({ unit }),
    ...(kind === "duration" ? { format: (ms: number) => formatNotation("duration", ms) } : {}),
    ...(kind === "percent" ? { format: (ratio: number) => formatNotation("percent", 100 * ratio) } : {}),
    ...defined({ defaultText, isRepeatable }),
    parse: (reader: ValueReader, before: unknown) =>
      put(
        shared,
        isRepeatable ? [...((before as readonly string[] | undefined) ?? []), reader.text] : read(reader),
        reader,
      ),
  };
  // Its path is the same in the Plan and in the settings.
  return option(setting as Place, entry as Parameters<typeof option>[1]);
}

/** Returns the value for the settings. Undefined, with a problem, for an invalid value. */
function put(shared: SharedOption, given: GivenValue | undefined, reader: ValueReader): unknown {
  const found = given === undefined ? { value: given } : toPlanValue(shared, given);
  if ("value" in found) return found.value;
  reader.fail(`The value ${found.message}.`, found.hint, found.given);
  return undefined;
}

function range({ min = 0, max = Number.MAX_SAFE_INTEGER, unit, example = min }: SharedOption) {
  const rule = `The value must be from ${min} to ${max}${unit === undefined ? "" : ` ${unit}`}.`;
  return [(value: number) => value >= min && value <= max, rule, `Give for example ${example}.`] as const;
}

function readNotated(kind: Notation): (reader: ValueReader) => number | undefined {
  return (reader) => {
    const read = readNotation(kind, reader.text);
    if (typeof read === "number") return read;
    reader.fail(`The value ${read.message}.`, read.hint);
    return undefined;
  };
}
