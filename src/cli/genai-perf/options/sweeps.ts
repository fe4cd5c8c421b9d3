import { isMap, isScalar, type Node } from "yaml";
import { countPoints, MOST_POINTS } from "../../../campaign/sweep.ts";
import { isObject } from "../../../plan/objects.ts";
import type { Fault } from "../../options/shared-option.ts";
import { isLoadName, loadOf } from "../loads.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";
import { isNumberFrom } from "./value-kinds.ts";
import type { LastFlag, ValueSource, ValuesBuilder } from "./values-builder.ts";

/** Reads the parameters that `analyze` varies, and their values. */

/** Parameters that `analyze` can vary. */
export type SweepType =
  | "runtime_batch_size"
  | "concurrency"
  | "num_dataset_entries"
  | "input_sequence_length"
  | "request_rate";

/** One swept parameter: a range, in which values double, or a list of values. */
export type Sweep = { readonly type: SweepType } & (
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] }
);

/** The parameter with its default start and end, and the name of the option that it varies; absent for a load. */
export interface SweepKind {
  readonly min: number;
  readonly max: number;
  readonly of?: string;
}

/** All parameters. */
export const SWEEPS = {
  runtime_batch_size: { min: 1, max: 128, of: "input.batch_size" },
  concurrency: { min: 1, max: 1024 },
  num_dataset_entries: { min: 100, max: 1000, of: "input.num_dataset_entries" },
  input_sequence_length: { min: 100, max: 1000, of: "input.synthetic_tokens.mean" },
  request_rate: { min: 16, max: 8192 },
} as const satisfies Readonly<Record<SweepType, SweepKind>>;

/** Parameters by their names in files. */
const SWEEP_TYPES: Readonly<Record<string, SweepType>> = {
  batch_size: "runtime_batch_size",
  ...Object.fromEntries(Object.keys(SWEEPS).map((type) => [type, type as SweepType])),
};

/** Names of parameters in flags. */
export const SWEEP_FLAG_TYPES = Object.keys(SWEEP_TYPES).filter((name) => name !== "runtime_batch_size");

/** The default ranges, in words. */
export const SWEEP_DEFAULT_TEXT = Object.entries(SWEEPS)
  .map(([type, { min, max }]) => `${type.replace("runtime_", "")} ${min}:${max}`)
  .join(", ");

/** Returns the values of a sweep in order. A range doubles from its start up to its end. */
export function sweepValues(sweep: Sweep): readonly number[] {
  if (sweep.kind === "list") return sweep.values;
  const values: number[] = [];
  for (let value = sweep.min; value <= sweep.max; value *= 2) values.push(value);
  return values;
}

/** Reads the flags of `analyze`. @param isNeeded whether a sweep is required */
export function readSweep(builder: ValuesBuilder, last: LastFlag, isNeeded: boolean): void {
  const typeFlag = last("--sweep-type");
  const list = last("--sweep-list");
  const given = list ?? last("--sweep-range");
  if (typeFlag === undefined) {
    const hint = "Add for example --sweep-type concurrency --sweep-range 1:64.";
    if (isNeeded || given !== undefined) builder.fail("--sweep-type", "no parameter to vary is given", undefined, hint);
    return;
  }
  const type = SWEEP_TYPES[String(typeFlag.value)];
  if (type === undefined) return;
  const read = list === undefined ? readSweepRange : readSweepList;
  const { min, max } = SWEEPS[type];
  const sweep = given === undefined ? ({ kind: "range", type, min, max } as const) : read(type, String(given.value));
  if ("message" in sweep)
    builder.fail(given?.from.place ?? "--sweep-range", sweep.message, String(given?.value), sweep.hint);
  else builder.store("analyze", [sweep], typeFlag.from);
}

/** Reads `analyze` of a file: each type with start, stop and step, or with a list of values. @param placeOf returns a node's position */
export function readSweeps(
  builder: ValuesBuilder,
  node: Node,
  from: ValueSource,
  placeOf: (node: Node) => string,
): void {
  const sweeps: Sweep[] = [];
  for (const { key, value } of isMap(node) ? node.items : []) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const type = Object.hasOwn(SWEEP_TYPES, name) ? SWEEP_TYPES[name] : undefined;
    const place = placeOf(key as Node);
    if (type === undefined) {
      const types = Object.keys(SWEEP_TYPES).join(", ");
      builder.fail(place, `User Config: ${name} is not a valid analyze parameter`, undefined, `Use one of ${types}.`);
      continue;
    }
    const sweep = readOneSweep(type, (value as Node | null)?.toJSON() ?? {});
    if ("message" in sweep) builder.fail(place, sweep.message, JSON.stringify(value), sweep.hint);
    else sweeps.push(sweep);
  }
  const count = countPoints(sweeps.map((sweep) => ({ values: sweepValues(sweep) })));
  if (count > MOST_POINTS)
    builder.fail(
      placeOf(node),
      `the sweep has ${count} points`,
      undefined,
      `Give fewer values: at most ${MOST_POINTS} points together.`,
    );
  else if (sweeps.length > 0) builder.store("analyze", sweeps, from);
}

function readOneSweep(type: SweepType, value: unknown): Sweep | Fault {
  if (Array.isArray(value) && value.length > 0 && value.every((item) => isNumberFrom(item, Number.MIN_VALUE)))
    return { kind: "list", type, values: value as number[] };
  const hint = "Write {start: 1, stop: 64}, with step if you like, or a list of values.";
  if (!isObject(value)) return { message: `User Config: ${type} must hold start and stop, or a list`, hint };
  const unknown = Object.keys(value).find((key) => !["start", "stop", "step"].includes(key));
  if (unknown !== undefined) return { message: `User Config: ${unknown} is not a valid ${type} parameter`, hint };
  const { start = SWEEPS[type].min, stop = SWEEPS[type].max, step } = value;
  if (![start, stop, step ?? 1].every((number) => Number.isFinite(number)))
    return { message: `User Config: start, stop and step of ${type} must be numbers`, hint };
  return makeRange(type, start as number, stop as number, step as number | undefined);
}

/** Reads `--sweep-list`: `20,60`. */
function readSweepList(type: SweepType, text: string): Sweep | Fault {
  const values: number[] = [];
  for (const part of text.split(",")) {
    const value = readNumber(type, part);
    if (value === undefined)
      return { message: `'${part}' is not ${kindOf(type)}`, hint: "Write for example --sweep-list 1,2,4." };
    if (value <= 0) return { message: "Values in -sweep-list must be positive", hint: "Give numbers above 0." };
    values.push(value);
  }
  return { kind: "list", type, values };
}

/** Reads `--sweep-range`: `1:8` doubles, `5:15:5` steps. */
function readSweepRange(type: SweepType, text: string): Sweep | Fault {
  const parts = text.split(":");
  if (parts.length < 2 || parts.length > 3)
    return {
      message: "The format of '--sweep-range' must be min:max or min:max:step.",
      hint: text.includes(",")
        ? `Write for example --sweep-range 1:8, or the values as --sweep-list ${text}.`
        : "Write for example --sweep-range 1:8.",
    };
  const numbers: number[] = [];
  for (const [index, part] of parts.entries()) {
    const value = readNumber(type, part);
    if (value === undefined)
      return {
        message: `--sweep-range ${["min", "max", "step"][index]} value must be ${kindOf(type)}.`,
        hint: "Write for example --sweep-range 1:8.",
      };
    numbers.push(value);
  }
  return makeRange(type, numbers[0] as number, numbers[1] as number, numbers[2]);
}

/** Returns a range, or the list of its values if it has a step. */
function makeRange(type: SweepType, min: number, max: number, step: number | undefined): Sweep | Fault {
  if (min <= 0 || max <= 0)
    return { message: "--sweep-range min/max value must be positive", hint: "Give numbers above 0." };
  if (step !== undefined && step <= 0)
    return { message: "--sweep-range step value must be positive", hint: "Give a step above 0, or none to double." };
  if (min >= max)
    return { message: "--sweep-range max must be greater than min", hint: `Write ${max}:${min}, or give a list.` };
  if (step === undefined) return { kind: "range", type, min, max };
  const count = Math.floor((max - min) / step + 1e-9) + 1;
  if (count > MOST_POINTS)
    return { message: `the sweep has ${count} values`, hint: `Give a larger step: at most ${MOST_POINTS} values.` };
  return { kind: "list", type, values: Array.from({ length: count }, (_, index) => min + index * step) };
}

function readNumber(type: SweepType, text: string): number | undefined {
  return isDecimal(type) ? parseDecimal(text) : parseInteger(text);
}

function kindOf(type: SweepType): string {
  return isDecimal(type) ? "a number" : "an int";
}

/** Whether the values of a sweep may be fractions. */
export function isDecimal(type: SweepType): boolean {
  return isLoadName(type) && loadOf(type).number === "decimal";
}
