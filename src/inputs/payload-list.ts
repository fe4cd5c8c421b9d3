import { nameHint } from "../plan/nearest-name.ts";
import { defined } from "../plan/objects.ts";
import { notJson, type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { parseJson, plainKey, toPlainNumber } from "../service/json-text.ts";
import type { DataOrder, DataStep, Dataset } from "./dataset.ts";
import { type HeldEntries, unpackEntries } from "./held-entries.ts";
import { isLargeFile, readWhole } from "./large-file.ts";
import {
  type PayloadEntry,
  parseLine,
  refuseValidation,
  type StepFacts,
  toEntry,
  toPayload,
  toPayloadStep,
} from "./payload-entry.ts";
import { MIXED, MIXED_HINT, StepStreams } from "./step-streams.ts";
import { PayloadFile } from "./stored-payloads.ts";
import { readTags, TAGS_FIELD, TAGS_HINT } from "./tagged-input.ts";

const MAX_PROBLEMS = 20;
/** Fields that perf_analyzer allows beside a payload for any load. */
const PLAIN_FIELDS = ["payload", "model"];
/** Fields for a load that follows the data. */
const LOAD_FIELDS = ["timestamp", "session_id", "delay"];

/** An element of `data`: an entry, or a stream of entries, which must be read before the next element. */
type Element = PayloadEntry | Iterable<PayloadEntry>;

export interface EntryRules {
  /** Whether the field `tags` of an entry contains its tags. Default: false; the field is not allowed. */
  readonly readsTags?: boolean | undefined;
  /** Whether an entry may have a time or a session when the load does not follow the data. Default: true; they are ignored. */
  readonly allowsLoadFields?: boolean | undefined;
}

/**
 * Reads payloads from files, one after another. A file is JSON as written by GenAI-Perf, `{"data": [{"payload": [{…}], "timestamp":
 * [ms]}]}`, with one list for each stream if there are several, or JSON Lines (`.jsonl`) with one such entry or one request body per line.
 * Turns of sessions have `"session_id": [s]` and, except the last one, `"delay": [ms]`.
 * @param order `at-times`: each entry must have a `timestamp` in milliseconds, and steps are sorted by it; `in-sessions`: each must have a
 * `session_id`, and each session becomes a stream, in the order of their first turns
 * @param held the entries of the only file, which is then not read and not checked
 * @param maxHeldBytes larger files are kept open, and their payloads are read when they are sent
 * @throws UserError with the place of each entry that is not valid
 */
export async function readPayloadLists(
  paths: readonly string[],
  order: DataOrder,
  held?: HeldEntries,
  maxHeldBytes?: number,
  rules: EntryRules = {},
): Promise<Dataset> {
  const list = new PayloadList(order, rules, held === undefined);
  let isStored = false;
  for (const path of paths) {
    const isLarge = held === undefined && (await isLargeFile(path, maxHeldBytes));
    isStored ||= isLarge;
    list.addAll(path, held ? unpackEntries(held) : isLarge ? await openEntries(path) : await readEntries(path));
  }
  return { ...list.finish(), ...(isStored ? { isStored: true } : {}) };
}

class PayloadList {
  private readonly problems: Problem[] = [];
  private readonly steps = new StepStreams();
  private readonly order: DataOrder;
  private readonly readsTags: boolean;
  /** Allowed fields; undefined: all. */
  private readonly fields: readonly string[] | undefined;

  constructor(order: DataOrder, { readsTags = false, allowsLoadFields = true }: EntryRules, isChecked: boolean) {
    this.order = order;
    this.readsTags = readsTags;
    const ofLoad = allowsLoadFields || order !== "in-turn" ? LOAD_FIELDS : [];
    if (isChecked) this.fields = [...PLAIN_FIELDS, ...ofLoad, ...(readsTags ? [TAGS_FIELD] : [])];
  }

  addAll(path: string, elements: Iterable<Element>): void {
    const what = isLines(path) ? (i: number) => `request ${i}` : (i: number) => `data[${i}]`;
    let index = 0;
    for (const element of elements) {
      const place = `${path}, ${what(index++)}`;
      const stream = this.steps.open(Symbol.iterator in element);
      if (stream === undefined) this.problems.push(problem("mismatch", place, MIXED, MIXED_HINT));
      else if (Symbol.iterator in element) this.addStream(element, stream, place);
      else this.add(element, stream, place);
      if (stream === undefined || this.problems.length >= MAX_PROBLEMS) return;
    }
    if (index === 0) this.problems.push(problem("missing", path, "has no entries", ENTRIES_HINT));
  }

  finish(): Dataset {
    const { streams } = this.steps;
    if (this.problems.length > 0) throw new UserError(this.problems);
    if (this.order === "at-times")
      for (const steps of streams) steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
    const hasTags = streams.some((steps) => steps.some(({ tags }) => tags !== undefined));
    return {
      streams: this.order === "in-sessions" ? groupBySession(streams.flat()) : streams,
      isFromJson: true,
      ...(hasTags ? { hasTags } : {}),
      warnings: [],
    };
  }

  private addStream(entries: Iterable<PayloadEntry>, stream: DataStep[], place: string): void {
    let index = 0;
    for (const entry of entries) {
      this.add(entry, stream, `${place}[${index++}]`);
      if (this.problems.length >= MAX_PROBLEMS) return;
    }
    if (index === 0) this.problems.push(problem("missing", place, "is a stream without entries", ENTRIES_HINT));
  }

  private add(entry: PayloadEntry, stream: DataStep[], place: string): void {
    if (entry.payload !== undefined) this.checkFields(entry, place);
    const step = toStep(entry, place, this.order, this.readsTags, this.problems);
    if (step !== undefined) stream.push(step);
  }

  private checkFields({ fields, hasSeveral }: PayloadEntry, place: string): void {
    const { problems, fields: known } = this;
    if (hasSeveral) problems.push(problem("unsupported", `${place}.payload`, SEVERAL, SEVERAL_HINT));
    for (const name of known === undefined ? [] : Object.keys(fields).map(plainKey)) {
      if (known?.includes(name)) continue;
      const hint = LOAD_FIELDS.includes(name)
        ? "Leave it out, or give the load that follows it."
        : nameHint(name, known ?? [], `An entry can have ${(known ?? []).join(", ")}.`);
      // In perf_analyzer's words.
      problems.push(
        problem("unknown-name", place, `The input or output '${name}' is not found in the model configuration`, hint),
      );
    }
  }
}

const ENTRIES_HINT = 'Write at least one, like {"payload": [{…}]}.';
/** In perf_analyzer's words. */
const SEVERAL = "JSON format does not yet support multiple json objects in the input";
const SEVERAL_HINT = 'Write an entry for each request: {"payload": [{…}]}, {"payload": [{…}]}.';

async function openEntries(path: string): Promise<Iterable<Element>> {
  const file = new PayloadFile(path);
  return isLines(path) ? file.lines() : file.elements();
}

async function readEntries(path: string): Promise<Iterable<Element>> {
  const text = await readWhole(path);
  if (isLines(path)) return parseLines(path, text).map((entry) => toEntry(entry, toPayload));
  return parse(path, text).map((element) =>
    Array.isArray(element) ? element.map((entry) => toEntry(entry, toPayload)) : toEntry(element, toPayload),
  );
}

function isLines(path: string): boolean {
  return path.endsWith(".jsonl");
}

/** Groups steps into sessions, in the order of their first turns. */
export function groupBySession(steps: readonly DataStep[]): DataStep[][] {
  const sessions = new Map<string, DataStep[]>();
  for (const step of steps) {
    const id = step.sessionId ?? "";
    const turns = sessions.get(id);
    if (turns === undefined) sessions.set(id, [step]);
    else turns.push(step);
  }
  return [...sessions.values()];
}

function parse(path: string, text: string): readonly unknown[] {
  let root: object;
  try {
    root = (parseJson(text) ?? {}) as object;
  } catch (error) {
    throw notJson(path, error);
  }
  for (const key of Object.keys(root)) refuseValidation(path, key);
  const { data } = root as { data?: unknown };
  if (Array.isArray(data)) return data;
  throw userError("missing", path, "has no list 'data'", 'Write {"data": [{"payload": [{…}]}]}.');
}

function parseLines(path: string, text: string): readonly unknown[] {
  return text
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${path}, line ${index + 1}`)]));
}

function toStep(
  { payload, fields }: PayloadEntry,
  place: string,
  order: DataOrder,
  readsTags: boolean,
  problems: Problem[],
): DataStep | undefined {
  if (payload === undefined) {
    problems.push(
      problem("missing", place, "has no payload in a list", 'Write {"payload": [{…}]} with one object in the list.'),
    );
    return undefined;
  }
  const read = order === "in-sessions" ? readTurn(fields, place, problems) : readTime(fields, place, order, problems);
  const facts = readsTags ? withTags(read, fields, place, problems) : read;
  if (facts === undefined) return undefined;
  return payload instanceof Uint8Array ? toPayloadStep(payload, { place, ...facts }) : Object.assign(payload, facts);
}

function readTime(
  { timestamp }: PayloadEntry["fields"],
  place: string,
  order: DataOrder,
  problems: Problem[],
): StepFacts | undefined {
  const timestampMs = single(timestamp);
  if (isTime(timestampMs)) return { timestampMs };
  if (order !== "at-times" && timestampMs === undefined) return {};
  problems.push(problem("missing", place, "has no timestamp", 'Write "timestamp": [0], in milliseconds.'));
  return undefined;
}

function withTags(
  facts: StepFacts | undefined,
  { [TAGS_FIELD]: given }: PayloadEntry["fields"],
  place: string,
  problems: Problem[],
): StepFacts | undefined {
  if (given === undefined) return facts;
  const tags = readTags(given);
  if (tags === undefined)
    problems.push(
      problem("invalid-value", place, "has tags that are not an object of texts, numbers or booleans", TAGS_HINT),
    );
  return tags && facts && { ...facts, tags };
}

function readTurn(
  { session_id, delay }: PayloadEntry["fields"],
  place: string,
  problems: Problem[],
): StepFacts | undefined {
  const id = single(session_id);
  const delayMs = single(delay);
  const isNamed = (typeof id === "string" && id !== "") || typeof id === "number";
  if (!isNamed)
    problems.push(problem("missing", place, "has no session_id", 'Write "session_id": ["a"] in every entry.'));
  const hasDelay = delayMs === undefined || isTime(delayMs);
  if (!hasDelay) {
    const hint = 'Write "delay": [100], in milliseconds.';
    problems.push(problem("invalid-value", place, "has a delay that is not a time", hint, JSON.stringify(delayMs)));
  }
  if (!isNamed || !hasDelay) return undefined;
  return { sessionId: String(id), ...defined({ delayMs }) };
}

/** Returns the value, or the element of a list with one value, as for tensors. */
function single(value: unknown): unknown {
  return toPlainNumber(Array.isArray(value) ? (value[0] as unknown) : value);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}
