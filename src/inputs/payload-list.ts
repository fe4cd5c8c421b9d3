import { notJson, type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { parseJson, toPlainNumber } from "../service/json-text.ts";
import type { DataOrder, DataStep, Dataset } from "./dataset.ts";
import { type HeldEntries, unpackEntries } from "./held-entries.ts";
import { isLargeFile, readWhole } from "./large-file.ts";
import { type PayloadEntry, parseLine, type StepFacts, toEntry, toPayload, toPayloadStep } from "./payload-entry.ts";
import { readTags, TAGS_FIELD, TAGS_HINT } from "./tagged-input.ts";

const MAX_PROBLEMS = 20;

/**
 * Reads payloads from files, one file after the other. A file is JSON as GenAI-Perf writes it,
 * `{"data": [{"payload": [{…}], "timestamp": [ms]}]}`, or JSON Lines (`.jsonl`) with one such entry or one request body per line. Turns of
 * sessions have `"session_id": [s]` and, except the last one, `"delay": [ms]`.
 * @param order `at-times`: each entry must have a `timestamp` in milliseconds, and steps are sorted by it; `in-sessions`: each must have a
 *   `session_id`, and each session becomes a stream, in the order of their first turns
 * @param held the entries of the only file, which is then not read
 * @param maxHeldBytes larger files stay open, and their payloads are read when they are sent
 * @param readsTags whether the field `tags` of an entry has its tags; default: it is ignored
 * @throws UserError with the place of each entry that is not valid
 */
export async function readPayloadLists(
  paths: readonly string[],
  order: DataOrder,
  held?: HeldEntries,
  maxHeldBytes?: number,
  readsTags = false,
): Promise<Dataset> {
  const problems: Problem[] = [];
  const steps: DataStep[] = [];
  let isStored = false;
  for (const path of paths) {
    const isLarge = held === undefined && (await isLargeFile(path, maxHeldBytes));
    isStored ||= isLarge;
    const entries = held ? unpackEntries(held) : isLarge ? await openEntries(path) : await readEntries(path);
    for (const step of toSteps(path, entries, { order, readsTags }, problems)) steps.push(step);
  }
  if (problems.length > 0) throw new UserError(problems);
  if (order === "at-times") steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
  const streams = order === "in-sessions" ? groupBySession(steps) : [steps];
  const hasTags = steps.some(({ tags }) => tags !== undefined);
  return {
    streams,
    isFromJson: true,
    ...(isStored ? { isStored } : {}),
    ...(hasTags ? { hasTags } : {}),
    warnings: [],
  };
}

/** What is read of an entry besides its payload. */
interface EntryRules {
  readonly order: DataOrder;
  readonly readsTags: boolean;
}

function* toSteps(
  path: string,
  entries: Iterable<PayloadEntry>,
  rules: EntryRules,
  problems: Problem[],
): Generator<DataStep> {
  let index = 0;
  const what = isLines(path) ? (i: number) => `request ${i}` : (i: number) => `data[${i}]`;
  for (const entry of entries) {
    const step = toStep(entry, `${path}, ${what(index++)}`, rules, problems);
    if (step !== undefined) yield step;
    if (problems.length >= MAX_PROBLEMS) return;
  }
  if (index === 0)
    problems.push(problem("missing", path, "has no entries", 'Write at least one, like {"payload": [{…}]}.'));
}

async function openEntries(path: string): Promise<Iterable<PayloadEntry>> {
  const { PayloadFile } = await import("./stored-payloads.ts");
  const file = new PayloadFile(path);
  return isLines(path) ? file.lines() : file.entries();
}

async function readEntries(path: string): Promise<Iterable<PayloadEntry>> {
  const text = await readWhole(path);
  const entries = isLines(path) ? parseLines(path, text) : parse(path, text);
  return entries.map((entry) => toEntry(entry, toPayload));
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
  let data: unknown;
  try {
    data = (parseJson(text) as { data?: unknown } | null)?.data;
  } catch (error) {
    throw notJson(path, error);
  }
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
  { order, readsTags }: EntryRules,
  problems: Problem[],
): DataStep | undefined {
  if (payload === undefined) {
    problems.push(problem("missing", place, "has no payload", 'Write {"payload": [{…}]} with one object in the list.'));
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
  if (tags === undefined) problems.push(problem("invalid-value", place, "has tags that are no tags", TAGS_HINT));
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
  return { sessionId: String(id), ...(delayMs === undefined ? {} : { delayMs }) };
}

/** Returns the value, or the element of a list with one value, as in tensors. */
function single(value: unknown): unknown {
  return toPlainNumber(Array.isArray(value) ? (value[0] as unknown) : value);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}
