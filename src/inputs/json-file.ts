import { readFile } from "node:fs/promises";
import { isTooDeep, TOO_DEEP } from "../plan/json-depth.ts";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import { parseLossless } from "../service/lossless-json.ts";
import type { ModelInfo } from "../service/service.ts";
import type { TensorSpec } from "../service/tensor.ts";
import type { DataStep, Dataset, StepTensor } from "./dataset.ts";
import { readJsonTensor } from "./json-tensor.ts";

/** Data from JSON files: `{"data": [...], "validation_data": [...]}`, several files one after the other. */

const MAX_PROBLEMS = 20;
const NO_DATA_HINT = 'Write at least one entry, like {"INPUT": [...]}.';

type Entry = Readonly<Record<string, unknown>>;

/** The field of an entry that says when it is due. */
const TIMESTAMP = "timestamp";

/**
 * Reads the files. Throws {@link UserError} naming file, entry and tensor of everything that does not fit the model.
 * @param isTimed each entry must have a `timestamp` in milliseconds; the steps come back in its order
 */
export async function readJsonFiles(paths: readonly string[], model: ModelInfo, isTimed = false): Promise<Dataset> {
  const reader = new DatasetReader(model, isTimed);
  for (const path of paths) reader.add(path, await readText(path));
  return reader.finish();
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UserError([
      { path, message: `cannot be read: ${messageOf(error)}`, hint: "Give an existing JSON file." },
    ]);
  }
}

class DatasetReader {
  private readonly model: ModelInfo;
  private readonly isTimed: boolean;
  private readonly streams: DataStep[][] = [];
  private readonly problems: Problem[] = [];
  private hasManyStreams: boolean | undefined;
  private readonly emptyFiles: string[] = [];
  private hiddenCount = 0;
  private lastPath = "";

  constructor(model: ModelInfo, isTimed: boolean) {
    this.model = model;
    this.isTimed = isTimed;
  }

  add(path: string, text: string): void {
    const root = this.parse(path, text);
    if (root === undefined) return;
    const data = root["data"];
    if (!Array.isArray(data)) {
      this.report(path, "The json file doesn't contain data field", 'Write {"data": [{"INPUT": [...]}]}.');
      return;
    }
    const validation = root["validation_data"];
    if (validation !== undefined && (!Array.isArray(validation) || validation.length !== data.length)) {
      this.report(
        path,
        "The 'validation_data' field doesn't align with 'data' field in the json file",
        "Give one entry of validation_data per entry of data.",
      );
      return;
    }
    this.addEntries(path, data, validation as unknown[] | undefined);
  }

  finish(): Dataset {
    if (this.problems.length === 0 && this.streams.length === 0)
      for (const path of this.emptyFiles) this.report(path, `the data field is empty: ${this.lacking}`, NO_DATA_HINT);
    if (this.hiddenCount > 0) {
      const message = `${this.hiddenCount} more of such problems`;
      this.problems.push({ path: this.lastPath, message, hint: "Mend those above first." });
    }
    if (this.problems.length > 0) throw new UserError(this.problems);
    if (this.isTimed)
      for (const steps of this.streams) steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
    return { streams: this.streams, isFromJson: true, warnings: [] };
  }

  private parse(path: string, text: string): Entry | undefined {
    try {
      const root = parseLossless(text);
      if (isTooDeep(root)) throw new SyntaxError(`it ${TOO_DEEP}`);
      if (typeof root === "object" && root !== null && !Array.isArray(root)) return root as Entry;
      this.report(path, "The json file doesn't contain data field", 'Write {"data": [{"INPUT": [...]}]}.');
    } catch (error) {
      const message = `failed to parse the specified json file for reading provided data: ${messageOf(error)}`;
      this.report(path, message, "Mend the JSON.");
    }
    return undefined;
  }

  /** Objects are steps of one stream; arrays are streams of their own. A run has one kind or the other. */
  private addEntries(path: string, data: readonly unknown[], validation: readonly unknown[] | undefined): void {
    for (const [index, entry] of data.entries()) {
      const isStream = Array.isArray(entry);
      this.hasManyStreams ??= isStream;
      if (isStream !== this.hasManyStreams) {
        this.report(
          `${path}, data[${index}]`,
          "Inconsistency in input-data provided. Can not have a combination of objects and arrays inside of the Data array",
          "Use objects (one stream of steps) or arrays (one stream each) throughout.",
        );
        return;
      }
      if (isStream) this.addStream(path, index, entry, validation?.[index]);
      else this.addStep(path, index, entry, validation?.[index]);
    }
    // An empty list is no stream at all, which is no harm beside other files.
    if (data.length === 0) this.emptyFiles.push(path);
  }

  private addStep(path: string, index: number, entry: unknown, expected: unknown): void {
    if (this.streams.length === 0) this.streams.push([]);
    const stream = this.streams[0] as DataStep[];
    stream.push(
      this.readStep(`${path}, data[${index}]`, `${path}, validation_data[${index}]`, entry, expected, 0, stream.length),
    );
  }

  private addStream(path: string, index: number, entries: readonly unknown[], validation: unknown): void {
    if (entries.length === 0)
      this.report(`${path}, data[${index}]`, `the stream has no steps: ${this.lacking}`, NO_DATA_HINT);
    if (validation !== undefined && (!Array.isArray(validation) || validation.length !== entries.length)) {
      this.report(
        `${path}, validation_data[${index}]`,
        "The 'validation_data' field doesn't align with 'data' field in the json file",
        "Give one entry per step of the stream.",
      );
      return;
    }
    const streamId = this.streams.length;
    this.streams.push(
      entries.map((entry, step) =>
        this.readStep(
          `${path}, data[${index}][${step}]`,
          `${path}, validation_data[${index}][${step}]`,
          entry,
          (validation as unknown[] | undefined)?.[step],
          streamId,
          step,
        ),
      ),
    );
  }

  private readStep(
    place: string,
    expectedPlace: string,
    entry: unknown,
    expected: unknown,
    stream: number,
    step: number,
  ): DataStep {
    const timestampMs = this.isTimed ? this.readTimestamp(place, entry, { stream, step }) : undefined;
    const inputs = this.readTensors(place, entry, this.model.inputs, { stream, step });
    const outputs =
      expected === undefined
        ? new Map<string, StepTensor>()
        : this.readTensors(expectedPlace, expected, this.model.outputs, undefined);
    return { inputs, expected: outputs, place, ...(timestampMs === undefined ? {} : { timestampMs }) };
  }

  private readTimestamp(place: string, entry: unknown, at: { stream: number; step: number }): number | undefined {
    const field = (entry as Entry | null)?.[TIMESTAMP];
    const value = Array.isArray(field) && field.length === 1 ? (field[0] as unknown) : field;
    if (typeof value === "number" && value >= 0) return value;
    const hint = `Give the time in milliseconds, for example "${TIMESTAMP}": [250].`;
    const message =
      field === undefined
        ? `missing tensor ${TIMESTAMP} ( Location stream id: ${at.stream}, step id: ${at.step})`
        : `${TIMESTAMP} is no time`;
    this.report(`${place}.${TIMESTAMP}`, message, hint);
    return undefined;
  }

  /** @param required where the step stands, when tensors that are absent are a problem */
  private readTensors(
    place: string,
    entry: unknown,
    specs: readonly TensorSpec[],
    required: { stream: number; step: number } | undefined,
  ): Map<string, StepTensor> {
    const tensors = new Map<string, StepTensor>();
    if (Array.isArray(entry)) {
      const message = "The 'validation_data' field doesn't align with 'data' field in the json file";
      this.report(place, message, "Write an object here: the entry of data is one.");
      return tensors;
    }
    if (typeof entry !== "object" || entry === null) {
      this.report(place, "Input data file is malformed", 'Write an object like {"INPUT": [...]}.');
      return tensors;
    }
    for (const name of Object.keys(entry)) {
      if (specs.some((spec) => spec.name === name) || name === "model" || (this.isTimed && name === TIMESTAMP))
        continue;
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
    required: { stream: number; step: number } | undefined,
    tensors: Map<string, StepTensor>,
  ): void {
    const value = entry[spec.name];
    if (value === undefined) {
      if (required === undefined || spec.isOptional) return;
      const message = `missing tensor ${spec.name} ( Location stream id: ${required.stream}, step id: ${required.step})`;
      this.report(place, message, `Add "${spec.name}" to this entry.`);
      return;
    }
    const result = readJsonTensor(value, spec);
    if ("problem" in result) this.report(`${place}.${spec.name}`, result.problem, result.hint);
    else tensors.set(spec.name, result);
  }

  private get lacking(): string {
    const [first] = this.model.inputs;
    return `unable to find data for input '${first?.name ?? ""}'`;
  }

  private report(path: string, message: string, hint: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ path, message, hint });
    else this.hiddenCount++;
    this.lastPath = path;
  }
}
