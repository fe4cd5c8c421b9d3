import { readFile } from "node:fs/promises";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import type { DataOrder, DataStep, Dataset } from "./dataset.ts";

/**
 * Payloads of requests from a JSON file as GenAI-Perf writes them: `{"data": [{"payload": [{…}], "timestamp": [ms]}]}`, those of sessions with
 * `"session_id": [s]` and, but for the last turn, `"delay": [ms]`.
 */

const PAYLOAD = "payload";
const MAX_PROBLEMS = 20;
const LENGTH_BYTES = 4;

/**
 * Reads the file. Throws {@link UserError} naming the entry of everything that is no payload.
 * @param order `at-times`: each entry must have a `timestamp` in milliseconds, whose order the steps come back in; `in-sessions`: each must
 *   have a `session_id`, and each session becomes a stream of its own, in the order of their first turns
 */
export async function readPayloadList(path: string, order: DataOrder): Promise<Dataset> {
  const entries = parse(path, await read(path));
  const problems: Problem[] = [];
  const steps: DataStep[] = [];
  for (const [index, entry] of entries.entries()) {
    const step = toStep(entry, `${path}, data[${index}]`, order, problems);
    if (step !== undefined) steps.push(step);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  if (problems.length === 0 && steps.length === 0)
    problems.push({ path, message: "has no entries", hint: 'Write at least one, like {"payload": [{…}]}.' });
  if (problems.length > 0) throw new UserError(problems);
  if (order === "at-times") steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
  const streams = order === "in-sessions" ? groupBySession(steps) : [steps];
  return { streams, isFromJson: true, warnings: [] };
}

function groupBySession(steps: readonly DataStep[]): DataStep[][] {
  const sessions = new Map<string, DataStep[]>();
  for (const step of steps) {
    const id = step.sessionId ?? "";
    const turns = sessions.get(id);
    if (turns === undefined) sessions.set(id, [step]);
    else turns.push(step);
  }
  return [...sessions.values()];
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UserError([
      { path, message: `cannot be read: ${messageOf(error)}`, hint: "Give an existing JSON file." },
    ]);
  }
}

function parse(path: string, text: string): readonly unknown[] {
  let data: unknown;
  try {
    data = (JSON.parse(text) as { data?: unknown } | null)?.data;
  } catch (error) {
    throw new UserError([{ path, message: `is not JSON: ${messageOf(error)}`, hint: "Correct it." }]);
  }
  if (Array.isArray(data)) return data;
  throw new UserError([{ path, message: "has no list 'data'", hint: 'Write {"data": [{"payload": [{…}]}]}.' }]);
}

function toStep(entry: unknown, place: string, order: DataOrder, problems: Problem[]): DataStep | undefined {
  const { payload, timestamp, session_id, delay } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const body = Array.isArray(payload) ? (payload[0] as unknown) : undefined;
  if (typeof body !== "object" || body === null) {
    problems.push({
      path: place,
      message: "has no payload",
      hint: 'Write {"payload": [{…}]} with one object in the list.',
    });
    return undefined;
  }
  const inputs = new Map([[PAYLOAD, { bytes: toElement(JSON.stringify(body)) }]]);
  const step: DataStep = { inputs, expected: new Map(), place };
  if (order === "in-sessions")
    return addSession(step, place, { id: single(session_id), delayMs: single(delay) }, problems);
  const timestampMs = single(timestamp);
  const hasTime = isTime(timestampMs);
  if ((order === "at-times" || timestampMs !== undefined) && !hasTime) {
    problems.push({ path: place, message: "has no timestamp", hint: 'Write "timestamp": [0], in milliseconds.' });
    return undefined;
  }
  return hasTime ? { ...step, timestampMs } : step;
}

function addSession(
  step: DataStep,
  place: string,
  { id, delayMs }: { readonly id: unknown; readonly delayMs: unknown },
  problems: Problem[],
): DataStep | undefined {
  const isNamed = (typeof id === "string" && id !== "") || typeof id === "number";
  if (!isNamed)
    problems.push({ path: place, message: "has no session_id", hint: 'Write "session_id": ["a"] in every entry.' });
  const hasDelay = delayMs === undefined || isTime(delayMs);
  if (!hasDelay)
    problems.push({
      path: place,
      message: "has a delay that is no time",
      value: JSON.stringify(delayMs),
      hint: 'Write "delay": [100], in milliseconds.',
    });
  if (!isNamed || !hasDelay) return undefined;
  return { ...step, sessionId: String(id), ...(delayMs === undefined ? {} : { delayMs }) };
}

/** A value that may stand in a list of its own, as tensors do. */
function single(value: unknown): unknown {
  return Array.isArray(value) ? (value[0] as unknown) : value;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

const encoder = new TextEncoder();

/** A text as the one element of a BYTES tensor. */
function toElement(text: string): Uint8Array {
  const content = encoder.encode(text);
  const bytes = new Uint8Array(LENGTH_BYTES + content.length);
  new DataView(bytes.buffer).setUint32(0, content.length, true);
  bytes.set(content, LENGTH_BYTES);
  return bytes;
}
