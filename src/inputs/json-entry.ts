import type { Tags } from "../plan/groups/tags.ts";
import type { Text } from "../plan/messages.ts";
import { type Problem, problem, UserError } from "../plan/problem.ts";
import { countOf } from "../plan/units.ts";
import type { ModelInfo } from "../service/service.ts";
import type { TensorSpec } from "../service/tensor.ts";
import type { StepTensor } from "./dataset.ts";
import { readJsonTensor } from "./json-tensor.ts";
import { readTags, TAGS_FIELD, TAGS_HINT } from "./tagged-input.ts";

const MAX_PROBLEMS = 20;

/** A JSON object. */
export type Entry = Readonly<Record<string, unknown>>;

export interface StepPlace {
  readonly stream: number;
  readonly step: number;
}

/** The field of an entry for its send time. */
export const TIMESTAMP = "timestamp";

/** Reads entries of Triton's JSON data, each with the tensors of one step. Collects everything that does not fit the model. */
export class EntryReader {
  private readonly model: ModelInfo;
  /** Whether each entry must have a `timestamp` in milliseconds. */
  readonly isTimed: boolean;
  private readonly ignoredKeys: readonly string[];
  private readonly refusesShortFloats: boolean;
  private readonly problems: Problem[] = [];
  private hiddenCount = 0;
  private lastPath = "";

  /**
   * @param ignoredKeys keys of entries that are not tensors
   * @param refusesShortFloats whether elements of FP16 and BF16 must be bytes
   */
  constructor(model: ModelInfo, isTimed: boolean, ignoredKeys: readonly string[], refusesShortFloats = false) {
    this.refusesShortFloats = refusesShortFloats;
    this.model = model;
    this.isTimed = isTimed;
    this.ignoredKeys = ignoredKeys;
  }

  /** Whether no problem has been reported. */
  get isGood(): boolean {
    return this.problems.length === 0;
  }

  /** Returns the tensors to send. @param place for example `data.json, data[2]` */
  inputs(place: string, entry: unknown, at: StepPlace): Map<string, StepTensor> {
    return this.readTensors(place, entry, this.model.inputs, at);
  }

  /** Returns the expected tensors; empty if the file has none. @param place for example `data.json, validation_data[2]` */
  expected(place: string, entry: unknown): Map<string, StepTensor> {
    return entry === undefined ? new Map() : this.readTensors(place, entry, this.model.outputs, undefined);
  }

  /** Returns the step's send time in milliseconds; undefined if the load does not follow the data. */
  timestampMs(place: string, entry: unknown, at: StepPlace): number | undefined {
    if (!this.isTimed) return undefined;
    const field = (entry as Entry | null)?.[TIMESTAMP];
    const value = Array.isArray(field) && field.length === 1 ? (field[0] as unknown) : field;
    if (typeof value === "number" && value >= 0) return value;
    const hint = `Give the time in milliseconds, for example "${TIMESTAMP}": [250].`;
    const message =
      field === undefined
        ? `missing tensor ${TIMESTAMP} ( Location stream id: ${at.stream}, step id: ${at.step})`
        : `${TIMESTAMP} is not a time`;
    this.report(`${place}.${TIMESTAMP}`, message, hint);
    return undefined;
  }

  /** Returns the tags of an entry; undefined if it has none, and if `tags` is a tensor of the model. */
  tags(place: string, entry: unknown): Tags | undefined {
    const field = (entry as Entry | null)?.[TAGS_FIELD];
    if (field === undefined || this.model.inputs.some(({ name }) => name === TAGS_FIELD)) return undefined;
    const tags = readTags(field);
    if (tags === undefined)
      this.report(`${place}.${TAGS_FIELD}`, "must be an object of texts, numbers or booleans", TAGS_HINT);
    return tags;
  }

  /** @param required the step's position, if missing tensors are a problem */
  private readTensors(
    place: string,
    entry: unknown,
    specs: readonly TensorSpec[],
    required: StepPlace | undefined,
  ): Map<string, StepTensor> {
    const tensors = new Map<string, StepTensor>();
    if (Array.isArray(entry)) {
      const message = "The 'validation_data' field doesn't align with 'data' field in the json file";
      this.report(place, message, "Write an object here, as in the entry of data.");
      return tensors;
    }
    if (typeof entry !== "object" || entry === null) {
      this.report(place, "Input data file is malformed", 'Write an object like {"INPUT": [...]}.');
      return tensors;
    }
    for (const name of Object.keys(entry)) {
      if (specs.some((spec) => spec.name === name) || name === "model" || this.ignoredKeys.includes(name)) continue;
      const message = `The input or output '${name}' is not found in the model configuration`;
      this.report(`${place}.${name}`, message, `The model has ${specs.map((spec) => spec.name).join(", ")}.`);
    }
    for (const spec of specs) this.readTensor(place, entry as Entry, spec, required, tensors);
    return tensors;
  }

  private readTensor(
    place: string,
    entry: Entry,
    spec: TensorSpec,
    required: StepPlace | undefined,
    tensors: Map<string, StepTensor>,
  ): void {
    const value = entry[spec.name];
    if (value === undefined) {
      if (required === undefined || spec.isOptional) return;
      const message = `missing tensor ${spec.name} ( Location stream id: ${required.stream}, step id: ${required.step})`;
      this.report(place, message, `Add "${spec.name}" to this entry.`);
      return;
    }
    const { refusesShortFloats } = this;
    const result = readJsonTensor(value, spec, { refusesShortFloats, isExpected: required === undefined });
    if ("problem" in result) this.report(`${place}.${spec.name}`, result.problem, result.hint);
    else tensors.set(spec.name, result);
  }

  /** The problem to report for data without entries. */
  get lacking(): string {
    const [first] = this.model.inputs;
    return `unable to find data for input '${first?.name ?? ""}'`;
  }

  /** @throws UserError with all reported problems */
  finish(): void {
    if (this.hiddenCount > 0) {
      const message = `${countOf(this.hiddenCount, "more problem")} of this kind`;
      this.problems.push(problem("mismatch", this.lastPath, message, "Correct the ones above first."));
    }
    if (this.problems.length > 0) throw new UserError(this.problems);
  }

  report(path: string, message: Text, hint: Text): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem("mismatch", path, message, hint));
    else this.hiddenCount++;
    this.lastPath = path;
  }
}
