import { readFile } from "node:fs/promises";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import type { DataStep, Dataset } from "./dataset.ts";

/** Payloads of requests from a JSON file as GenAI-Perf writes them: `{"data": [{"payload": [{…}], "timestamp": [ms]}]}`. */

const PAYLOAD = "payload";
const MAX_PROBLEMS = 20;
const LENGTH_BYTES = 4;

/**
 * Reads the file. Throws {@link UserError} naming the entry of everything that is no payload.
 * @param isTimed each entry must have a `timestamp` in milliseconds; the steps come back in its order
 */
export async function readPayloadList(path: string, isTimed: boolean): Promise<Dataset> {
  const entries = parse(path, await read(path));
  const problems: Problem[] = [];
  const steps: DataStep[] = [];
  for (const [index, entry] of entries.entries()) {
    const step = toStep(entry, `${path}, data[${index}]`, isTimed, problems);
    if (step !== undefined) steps.push(step);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  if (problems.length === 0 && steps.length === 0)
    problems.push({ path, message: "has no entries", hint: 'Write at least one, like {"payload": [{…}]}.' });
  if (problems.length > 0) throw new UserError(problems);
  if (isTimed) steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
  return { streams: [steps], isFromJson: true, warnings: [] };
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

function toStep(entry: unknown, place: string, isTimed: boolean, problems: Problem[]): DataStep | undefined {
  const { payload, timestamp } = (entry ?? {}) as { payload?: unknown; timestamp?: unknown };
  const [body] = Array.isArray(payload) ? (payload as unknown[]) : [];
  if (typeof body !== "object" || body === null) {
    problems.push({
      path: place,
      message: "has no payload",
      hint: 'Write {"payload": [{…}]} with one object in the list.',
    });
    return undefined;
  }
  const [timestampMs] = Array.isArray(timestamp) ? (timestamp as unknown[]) : [timestamp];
  const hasTime = typeof timestampMs === "number" && timestampMs >= 0;
  if ((isTimed || timestampMs !== undefined) && !hasTime) {
    problems.push({ path: place, message: "has no timestamp", hint: 'Write "timestamp": [0], in milliseconds.' });
    return undefined;
  }
  const inputs = new Map([[PAYLOAD, { bytes: toElement(JSON.stringify(body)) }]]);
  return { inputs, expected: new Map(), place, ...(hasTime ? { timestampMs } : {}) };
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
