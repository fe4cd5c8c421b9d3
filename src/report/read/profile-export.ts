import { closeSync, readSync } from "node:fs";
import { type ByteSource, JsonScanner } from "../../inputs/json-scanner.ts";
import { messageOf, type UserError, userError } from "../../plan/problem.ts";
import { openFile } from "../../runtime/files.ts";
import { collectGarbage } from "../../runtime/machine.ts";

/** Reads profile exports of perf_analyzer and Rampart request by request, so that a file needs only the memory of its longest request. */

/** One experiment of an export: a level of load. */
export interface ExportedExperiment {
  /** `concurrency` or `request_rate`, as written. */
  readonly mode: string;
  readonly value: number;
  readonly requestCount: number;
  /** Epoch nanoseconds; 0 and 2^64-1 for loads without windows. */
  readonly windowBoundariesNs: readonly bigint[];
}

/** One request of an export. */
export interface ExportedRequest {
  /** Index of the request's experiment. */
  readonly experiment: number;
  /** Time of the send, in epoch nanoseconds. */
  readonly timestampNs: bigint;
  /** Correlation id of the request's sequence; undefined without a sequence. */
  readonly sequenceId: number | undefined;
  /** Inputs by name. For OpenAI kinds: `payload`, the request's body as text. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Time of each response, in nanoseconds after `timestampNs`. */
  readonly responseOffsetsNs: readonly number[];
  /** Outputs of each response, by name. For OpenAI kinds: `response`, the received text. */
  readonly responses: readonly Readonly<Record<string, unknown>>[];
}

/** An export, with the fields that the first pass found. */
export interface ProfileExport {
  readonly path: string;
  readonly version: string;
  /** `openai`, `triton`, … */
  readonly serviceKind: string;
  /** Path of the service, without the host; may be empty. */
  readonly endpoint: string;
  readonly experiments: readonly ExportedExperiment[];
  /** Returns all requests in order. Each call reads the file again. @throws UserError when the file is not valid */
  requests(): Generator<ExportedRequest>;
}

/**
 * Opens an export. Reads it once, because its description is at its end.
 * @param open returns the bytes from the start; default: reads the file
 * @throws UserError with file, position and byte when the file cannot be read or is not a profile export
 */
export function openProfileExport(path: string, open: () => ByteSource = () => openSource(path)): ProfileExport {
  const head = withScanner(path, readHead, open);
  return { ...head, path, requests: () => scanItems(path, readRequests, open) };
}

type Head = Omit<ProfileExport, "path" | "requests">;

function readHead(scanner: JsonScanner): Head {
  const experiments: ExportedExperiment[] = [];
  const texts = { version: "", service_kind: "", endpoint: "" };
  let hasExperiments = false;
  for (const key of scanner.members()) {
    scanner.place = key;
    if (key === "experiments") {
      hasExperiments = true;
      for (const index of scanner.items()) {
        scanner.place = `experiments[${index}]`;
        experiments.push(readExperiment(scanner, index));
      }
    } else if (isKeyOf(texts, key)) texts[key] = readString(scanner);
    else scanner.skip();
  }
  scanner.place = "";
  if (!hasExperiments) scanner.fail("experiments are missing: this is not a profile export");
  if (texts.service_kind === "") scanner.fail("service_kind is missing: this is not a profile export");
  return { version: texts.version, serviceKind: texts.service_kind, endpoint: texts.endpoint, experiments };
}

function readExperiment(scanner: JsonScanner, index: number): ExportedExperiment {
  let mode = "";
  let value = 0;
  let requestCount = 0;
  let windowBoundariesNs: bigint[] = [];
  for (const key of scanner.members()) {
    scanner.place = `experiments[${index}].${key}`;
    if (key === "requests") {
      for (const _ of scanner.items()) {
        scanner.skip();
        requestCount++;
      }
    } else if (key === "window_boundaries") windowBoundariesNs = readIntegers(scanner);
    else if (key === "experiment") {
      const level = scanner.value() as { mode?: unknown; value?: unknown } | null;
      if (typeof level?.mode !== "string") scanner.fail("mode is missing");
      mode = level?.mode as string;
      value = Number(level?.value);
    } else scanner.skip();
  }
  return { mode, value, requestCount, windowBoundariesNs };
}

function* readRequests(scanner: JsonScanner): Generator<ExportedRequest> {
  for (const key of scanner.members()) {
    if (key !== "experiments") scanner.skip();
    else
      for (const experiment of scanner.items())
        for (const part of scanner.members()) {
          if (part !== "requests") scanner.skip();
          else
            for (const index of scanner.items()) {
              scanner.place = `experiments[${experiment}].requests[${index}]`;
              yield readRequest(scanner, experiment);
            }
        }
  }
}

function readRequest(scanner: JsonScanner, experiment: number): ExportedRequest {
  const { place } = scanner;
  let timestampNs: bigint | undefined;
  let sequenceId: number | undefined;
  let inputs: Record<string, unknown> = {};
  let timesNs: bigint[] = [];
  let responses: Record<string, unknown>[] = [];
  for (const key of scanner.members()) {
    scanner.place = `${place}.${key}`;
    if (key === "timestamp") timestampNs = toInteger(scanner, scanner.text());
    else if (key === "sequence_id") sequenceId = Number(scanner.value());
    else if (key === "request_inputs") inputs = (scanner.value() ?? {}) as Record<string, unknown>;
    else if (key === "response_timestamps") timesNs = readIntegers(scanner);
    else if (key === "response_outputs") responses = readOutputs(scanner);
    else scanner.skip();
  }
  scanner.place = place;
  if (timestampNs === undefined) return scanner.fail("timestamp is missing");
  if (timesNs.length !== responses.length)
    scanner.fail(`there are ${timesNs.length} response_timestamps and ${responses.length} response_outputs`);
  checkOrder(scanner, timestampNs, timesNs);
  const sentNs = timestampNs;
  const responseOffsetsNs = timesNs.map((timeNs) => Number(timeNs - sentNs));
  return { experiment, timestampNs, sequenceId, inputs, responseOffsetsNs, responses };
}

/** Checks the order of times. A response before its request, or out of order, would make the numbers meaningless. */
function checkOrder(scanner: JsonScanner, sentNs: bigint, timesNs: readonly bigint[]): void {
  let beforeNs = sentNs;
  for (let index = 0; index < timesNs.length; index++) {
    const timeNs = timesNs[index] as bigint;
    if (timeNs < beforeNs) {
      const what = index === 0 ? "the request" : `response ${index - 1}`;
      scanner.fail(`response ${index} came ${beforeNs - timeNs} ns before ${what}`);
    }
    beforeNs = timeNs;
  }
}

function readOutputs(scanner: JsonScanner): Record<string, unknown>[] {
  const outputs = scanner.value();
  if (!Array.isArray(outputs)) return scanner.fail("an array is missing");
  return outputs.map((output) => (typeof output === "object" && output !== null ? output : {}));
}

/** Reads integers of any length: timestamps have 19 digits, more than a number can hold. */
function readIntegers(scanner: JsonScanner): bigint[] {
  const text = scanner.text();
  if (!text.startsWith("[")) scanner.fail("an array is missing");
  const inner = text.slice(1, -1).trim();
  return inner === "" ? [] : inner.split(",").map((item) => toInteger(scanner, item));
}

function toInteger(scanner: JsonScanner, text: string): bigint {
  return /^\s*-?\d+\s*$/.test(text) ? BigInt(text) : scanner.fail(`a whole number is missing: ${text.slice(0, 40)}`);
}

function readString(scanner: JsonScanner): string {
  const value = scanner.value();
  return typeof value === "string" ? value : scanner.fail("a text is missing");
}

function isKeyOf<T extends object>(object: T, key: string): key is keyof T & string {
  return Object.hasOwn(object, key);
}

/** Reads a file with a scanner, and closes it. @param open default: opens the file */
export function withScanner<T>(
  path: string,
  read: (scanner: JsonScanner) => T,
  open: () => ByteSource = () => openSource(path),
): T {
  const source = open();
  try {
    return read(new JsonScanner(source, path));
  } finally {
    source.close();
  }
}

/** Number of items between two garbage collections. */
const COLLECT_EVERY = 50_000;

/** Reads a file item by item with a scanner, and closes it. */
export function* scanItems<T>(
  path: string,
  read: (scanner: JsonScanner) => Generator<T>,
  open: () => ByteSource = () => openSource(path),
): Generator<T> {
  const source = open();
  let count = 0;
  try {
    for (const item of read(new JsonScanner(source, path))) {
      yield item;
      if (++count % COLLECT_EVERY === 0) collectGarbage();
    }
  } finally {
    source.close();
  }
}

/** Opens a file's bytes. @throws UserError when it cannot be read */
function openSource(path: string): ByteSource {
  const toError = (error: unknown): UserError =>
    userError(
      "unreadable",
      path,
      `the file cannot be read: ${messageOf(error)}`,
      "Give the path of an existing profile export.",
    );
  try {
    const fd = openFile(path);
    return {
      read: (into) => {
        try {
          return readSync(fd, into);
        } catch (error) {
          throw toError(error);
        }
      },
      close: () => closeSync(fd),
    };
  } catch (error) {
    throw toError(error);
  }
}
