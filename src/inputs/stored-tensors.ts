import type { Tags } from "../plan/groups/tags.ts";
import { messageOf, RunError, userError } from "../plan/problem.ts";
import { parseLossless } from "../service/lossless-json.ts";
import type { ModelInfo } from "../service/service.ts";
import type { DataStep, StepInputs, StepTensor } from "./dataset.ts";
import type { JsonDocument } from "./json-document.ts";
import { EntryReader, TIMESTAMP } from "./json-entry.ts";
import { type Extent, JsonScanner } from "./json-scanner.ts";
import { LargeFile } from "./large-file.ts";
import { TAGS_FIELD } from "./tagged-input.ts";

/** Maximum size of an entry. An entry is parsed as a whole, which takes about five times its size in memory. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024; // 64 MiB
const HINT = 'Write {"data": [{"INPUT": [...]}]}, whole.';

const FIRST = { stream: 0, step: 0 };
const NOTHING: ReadonlyMap<string, StepTensor> = new Map();

type Entries = readonly (StoredStep | readonly StoredStep[])[];

/**
 * Scans a JSON data file that is too large for memory. Each entry is read when its request is sent. The file stays open and must not
 * change.
 * @throws UserError if it cannot be read, or, with the byte offset, if it is not valid
 */
export function openJsonDocument(path: string, model: ModelInfo): JsonDocument<StoredStep> {
  const file = new TensorFile(path, model);
  const scanner = new JsonScanner(file.source(), path, HINT);
  let data: Entries | undefined;
  let validation: Entries | "wrong" | undefined;
  for (const key of scanner.members()) {
    scanner.place = key;
    if (key === "data") data = findEntries(scanner, file);
    else if (key === "validation_data") validation = findEntries(scanner, file) ?? "wrong";
    else scanner.skip();
    scanner.place = "";
  }
  return {
    path,
    data,
    validation,
    read: (entry) => file.read(entry),
    store: (entry, expected, timestampMs) => entry.complete(expected, timestampMs),
  };
}

/** Finds the entries of a list and of the lists in it. Returns undefined if the value is not a list. */
function findEntries(scanner: JsonScanner, file: TensorFile): Entries | undefined {
  if (!scanner.isAtArray()) {
    scanner.skip();
    return undefined;
  }
  const entries: (StoredStep | StoredStep[])[] = [];
  for (const index of scanner.items()) {
    if (!scanner.isAtArray()) {
      entries.push(new StoredStep(file, scanner.extent(), index, -1));
      continue;
    }
    const steps: StoredStep[] = [];
    for (const step of scanner.items()) steps.push(new StoredStep(file, scanner.extent(), index, step));
    entries.push(steps);
  }
  return entries;
}

/** A step that is read on each access. A small object, because there may be millions. */
class StoredStep implements DataStep, Extent {
  readonly offset: number;
  readonly byteCount: number;
  timestampMs?: number;
  tags?: Tags;
  private readonly file: TensorFile;
  private readonly index: number;
  /** -1 if entries are not in streams. */
  private readonly stepIndex: number;
  private expectedEntry: Extent | undefined;

  constructor(file: TensorFile, { offset, byteCount }: Extent, index: number, stepIndex: number) {
    this.file = file;
    this.offset = offset;
    this.byteCount = byteCount;
    this.index = index;
    this.stepIndex = stepIndex;
    this.expectedEntry = undefined;
  }

  /** Adds data that is known only after scanning the whole file. */
  complete(expected: Extent | undefined, timestampMs: number | undefined): this {
    this.expectedEntry = expected;
    if (timestampMs !== undefined) this.timestampMs = timestampMs;
    return this;
  }

  get place(): string {
    return `${this.file.path}, data[${this.index}]${this.stepIndex < 0 ? "" : `[${this.stepIndex}]`}`;
  }

  get inputs(): StepInputs {
    return this.file.inputs(this);
  }

  get expected(): ReadonlyMap<string, StepTensor> {
    return this.expectedEntry === undefined ? NOTHING : this.file.expected(this.expectedEntry);
  }
}

class TensorFile extends LargeFile {
  private readonly entries: EntryReader;
  /** The last step that was read, because a request reads its tensors one by one. */
  private last: { readonly extent: Extent; readonly tensors: ReadonlyMap<string, StepTensor> } | undefined;

  constructor(path: string, model: ModelInfo) {
    super(path);
    this.entries = new EntryReader(model, false, [TIMESTAMP, TAGS_FIELD]);
  }

  /** Reads the JSON value of an entry. @throws UserError if it is not JSON */
  read(extent: Extent): unknown {
    const path = `${this.path}, byte ${extent.offset}`;
    const { byteCount } = extent;
    if (byteCount > MAX_ENTRY_BYTES) {
      const message = `an entry of ${byteCount} bytes is above the maximum of ${MAX_ENTRY_BYTES}`;
      const hint = "Give large tensors in a directory of raw files.";
      throw userError("invalid-value", path, message, hint);
    }
    try {
      return parseLossless(this.text(extent));
    } catch (error) {
      const message = `failed to parse the specified json file for reading provided data: ${messageOf(error)}`;
      throw userError("not-json", path, message, "Correct the JSON.");
    }
  }

  inputs(extent: Extent): ReadonlyMap<string, StepTensor> {
    if (this.last?.extent !== extent)
      this.last = { extent, tensors: this.readAgain(extent, (value) => this.entries.inputs("", value, FIRST)) };
    return this.last.tensors;
  }

  expected(extent: Extent): ReadonlyMap<string, StepTensor> {
    return this.readAgain(extent, (value) => this.entries.expected("", value));
  }

  /** Reads tensors that were valid when the file was scanned. @throws RunError if the file has changed */
  private readAgain(extent: Extent, read: (value: unknown) => Map<string, StepTensor>): Map<string, StepTensor> {
    try {
      const tensors = read(this.read(extent));
      this.entries.finish();
      return tensors;
    } catch (error) {
      const message = `${this.path}, byte ${extent.offset}: ${messageOf(error)}`;
      throw new RunError("internal", message, "Do not change the file during a run.");
    }
  }
}
