import { isTooDeep, TOO_DEEP } from "../plan/document/json-depth.ts";
import { defined, isObject } from "../plan/objects.ts";
import { messageOf } from "../plan/problem.ts";
import { parseLossless } from "../service/lossless-json.ts";
import type { ModelInfo } from "../service/service.ts";
import type { DataStep, Dataset } from "./dataset.ts";
import { type HeldEntries, type HeldEntry, unpackEntries } from "./held-entries.ts";
import type { JsonDocument } from "./json-document.ts";
import { type Entry, EntryReader, TIMESTAMP } from "./json-entry.ts";
import type { TensorRules } from "./json-tensor.ts";
import { isLargeFile, readWhole } from "./large-file.ts";
import { MIXED, MIXED_HINT, StepStreams } from "./step-streams.ts";
import { openJsonDocument } from "./stored-tensors.ts";
import { TAGS_FIELD } from "./tagged-input.ts";

const NO_DATA_HINT = 'Write at least one entry, like {"INPUT": [...]}.';
const NO_DATA_FIELD = "The json file doesn't contain data field";
const NO_DATA_FIELD_HINT = 'Write {"data": [{"INPUT": [...]}]}.';
const MISALIGNED = "The 'validation_data' field doesn't align with 'data' field in the json file";

export interface JsonRules extends Pick<TensorRules, "refusesShortFloats"> {
  /** Whether the field `tags` of an entry contains its tags. Default: false; it is a tensor. */
  readonly readsTags?: boolean | undefined;
}

/**
 * Reads data from JSON files, `{"data": [...], "validation_data": [...]}`, one after another.
 * @param isTimed each entry must have a `timestamp` in milliseconds; the steps are sorted by it
 * @param held the entries of the only file, which is then not read
 * @param maxHeldBytes larger files are kept open, and their entries are read when they are sent
 * @throws UserError with file, entry and tensor of everything that does not fit the model
 */
export async function readJsonFiles(
  paths: readonly string[],
  model: ModelInfo,
  isTimed = false,
  held?: HeldEntries,
  maxHeldBytes?: number,
  rules: JsonRules = {},
): Promise<Dataset> {
  const reader = new DatasetReader(model, isTimed, rules);
  for (const path of paths) {
    if (held !== undefined) {
      reader.add(toHeldDocument(path, held));
      continue;
    }
    if (await isLargeFile(path, maxHeldBytes)) {
      reader.add(openJsonDocument(path, model));
      continue;
    }
    const root = reader.parse(path, await readWhole(path));
    if (root !== undefined) reader.add(toDocument(path, root));
  }
  return reader.finish();
}

function toDocument(path: string, root: Entry): JsonDocument<unknown> {
  const { data, validation_data: validation } = root;
  return {
    path,
    data: Array.isArray(data) ? data : undefined,
    validation: validation === undefined || Array.isArray(validation) ? validation : "wrong",
    read: (entry) => entry,
  };
}

function toHeldDocument(path: string, held: HeldEntries): JsonDocument<HeldEntry> {
  const decoder = new TextDecoder();
  const read = ({ payload }: HeldEntry): unknown => parseLossless(decoder.decode(payload));
  return { path, data: unpackEntries(held), validation: undefined, read };
}

class DatasetReader {
  private readonly entries: EntryReader;
  private readonly steps = new StepStreams();
  private readonly emptyFiles: string[] = [];
  private isStored = false;
  private hasExpected = false;
  private hasTags = false;
  private readonly readsTags: boolean;

  constructor(model: ModelInfo, isTimed: boolean, { readsTags = false, refusesShortFloats }: JsonRules) {
    const ignored = [...(isTimed ? [TIMESTAMP] : []), ...(readsTags ? [TAGS_FIELD] : [])];
    this.entries = new EntryReader(model, isTimed, ignored, refusesShortFloats);
    this.readsTags = readsTags;
  }

  /** Returns the root object of a file; reports a problem and returns undefined if there is none. */
  parse(path: string, text: string): Entry | undefined {
    try {
      const root = parseLossless(text);
      if (isTooDeep(root)) throw new SyntaxError(`it ${TOO_DEEP}`);
      if (isObject(root)) return root as Entry;
      this.entries.report(path, NO_DATA_FIELD, NO_DATA_FIELD_HINT);
    } catch (error) {
      const message = `failed to parse the specified json file for reading provided data: ${messageOf(error)}`;
      this.entries.report(path, message, "Correct the JSON.");
    }
    return undefined;
  }

  /** Adds a document. Objects are steps of one stream, and each list is one stream. A run cannot mix objects and lists. */
  add<E>(document: JsonDocument<E>): void {
    const { path, data, validation } = document;
    this.isStored ||= document.store !== undefined;
    if (data === undefined) {
      this.entries.report(path, NO_DATA_FIELD, NO_DATA_FIELD_HINT);
      return;
    }
    if (validation === "wrong" || (validation !== undefined && validation.length !== data.length)) {
      this.entries.report(path, MISALIGNED, "Give one entry of validation_data per entry of data.");
      return;
    }
    for (const [index, entry] of data.entries()) {
      const isStream = Array.isArray(entry);
      const stream = this.steps.open(isStream);
      if (stream === undefined) {
        this.entries.report(`${path}, data[${index}]`, MIXED, MIXED_HINT);
        return;
      }
      if (isStream) this.addStream(document, index, entry, validation?.[index], stream);
      else this.addStep(document, index, entry as E, validation?.[index] as E | undefined, stream);
    }
    // An empty list is allowed if other files have entries.
    if (data.length === 0) this.emptyFiles.push(path);
  }

  finish(): Dataset {
    const { entries } = this;
    const { streams } = this.steps;
    if (entries.isGood && streams.length === 0)
      for (const path of this.emptyFiles)
        entries.report(path, `the data field is empty: ${entries.lacking}`, NO_DATA_HINT);
    entries.finish();
    if (entries.isTimed) for (const steps of streams) steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
    const stored = this.isStored ? { isStored: true, hasExpected: this.hasExpected } : {};
    return { streams, isFromJson: true, ...stored, ...(this.hasTags ? { hasTags: true } : {}), warnings: [] };
  }

  private addStep<E>(
    document: JsonDocument<E>,
    index: number,
    entry: E,
    expected: E | undefined,
    stream: DataStep[],
  ): void {
    stream.push(this.readStep(document, `[${index}]`, entry, expected, { stream: 0, step: stream.length }));
  }

  private addStream<E>(
    document: JsonDocument<E>,
    index: number,
    entries: readonly E[],
    validation: E | readonly E[] | undefined,
    steps: DataStep[],
  ): void {
    const { path } = document;
    if (entries.length === 0)
      this.entries.report(`${path}, data[${index}]`, `the stream has no steps: ${this.entries.lacking}`, NO_DATA_HINT);
    if (validation !== undefined && (!Array.isArray(validation) || validation.length !== entries.length)) {
      this.entries.report(`${path}, validation_data[${index}]`, MISALIGNED, "Give one entry per step of the stream.");
      return;
    }
    const stream = this.steps.streams.length - 1;
    const expected = validation as readonly E[] | undefined;
    for (const [step, entry] of entries.entries())
      steps.push(this.readStep(document, `[${index}][${step}]`, entry, expected?.[step], { stream, step }));
  }

  /** @param where position of the entry in the lists: `[2]`, or `[0][2]` for streams */
  private readStep<E>(
    document: JsonDocument<E>,
    where: string,
    entry: E,
    expected: E | undefined,
    at: { readonly stream: number; readonly step: number },
  ): DataStep {
    const { path } = document;
    const place = `${path}, data${where}`;
    const value = document.read(entry);
    const timestampMs = this.entries.timestampMs(place, value, at);
    const inputs = this.entries.inputs(place, value, at);
    const outputs = this.entries.expected(
      `${path}, validation_data${where}`,
      expected === undefined ? undefined : document.read(expected),
    );
    this.hasExpected ||= outputs.size > 0;
    const tags = this.readsTags ? this.entries.tags(place, value) : undefined;
    this.hasTags ||= tags !== undefined;
    const step = document.store?.(entry, expected, timestampMs) ?? {
      inputs,
      expected: outputs,
      place,
      ...defined({ timestampMs }),
    };
    return tags === undefined ? step : Object.assign(step, { tags });
  }
}
