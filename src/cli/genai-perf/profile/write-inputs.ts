import { mkdir, rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type HeldEntries, type HeldEntry, packEntries } from "../../../inputs/held-entries.ts";
import { MAX_HELD_BYTES } from "../../../inputs/large-file.ts";
import { toPayload } from "../../../inputs/payload-entry.ts";
import { createEntries } from "../../../inputs/prompts/prompt-sources.ts";
import type { RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { isGenerated } from "../../../inputs/prompts/settings.ts";
import { describePart, isInPart } from "../../../load/schedule-part.ts";
import type { SchedulePartPlan } from "../../../plan/load-options.ts";
import type { LoadPlan } from "../../../plan/load-plan.ts";
import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import { describeWriteError, RunError, type UserError, userError } from "../../../plan/problem.ts";
import { inputKindOf } from "../../../registry/input-kinds.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import { OutputFile } from "../../../report/output-file.ts";
import { formatInputsFile, type MetadataOrder, toRecord } from "../../../service/openai/inputs-file.ts";
import type { Payload } from "../../../service/openai/payload.ts";
import type { PromptEntry } from "../../../service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import { withValue } from "../../options/place.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "../endpoints.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";
import { LoadCheck } from "./load-check.ts";
import { openLayout, type PayloadLayout } from "./payload-layout.ts";

/** Characters per write. A million small writes would take a minute. */
const PIECE_CHARACTERS = 256 * 1024;

/** The requests to create. Plain data. */
export interface WriteTask {
  readonly requests: RequestsPlan;
  readonly endpointType: EndpointTypeName;
  /** The load that sends them. */
  readonly load: LoadPlan;
  /** Maximum number of requests, counted from the first. Default: all. */
  readonly entryLimit?: number | undefined;
}

/** Returns the requests to create for a profile. */
export function toWriteTask(plan: ProfilePlan): WriteTask {
  const { requests, load, outputs } = plan;
  const endpointType = outputs.genaiPerf.endpointType as EndpointTypeName;
  return { requests, load, endpointType, entryLimit: neededEntries(plan) };
}

/** Returns a plan that sends a payload file once, with the number of its requests. */
export function withEntryCount(plan: ProfilePlan, entryCount: number): ProfilePlan {
  const { mode } = plan.measurement;
  const isOpen = mode.kind === "requests" && mode.count === null && loadModeOf(plan.load).requestCount === undefined;
  return isOpen ? withValue(plan, "measurement.mode.count", entryCount) : plan;
}

/**
 * Returns the number of entries that a plan sends, from the first on. Later entries need not be created. A warm-up also starts with the
 * first entry. Undefined if the number is unknown before the run, or the data determines the load.
 */
export function neededEntries({ load, inputs, measurement, target }: Plan): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  if (mode.kind !== "requests" || mode.count === null || warmupMs > 0) return undefined;
  const isInOrder = inputKindOf(inputs).isInOrder?.(inputs) === true;
  const loadMode = loadModeOf(load);
  const isCounted = loadMode.requestCount === undefined && loadMode.ramp?.(load)?.isWhole !== true;
  return isInOrder && isCounted ? Math.max(mode.count, warmupRequests) * target.batchSize : undefined;
}

/** The written file. */
export interface WrittenInputs {
  /** Contents of the file, for the run. Undefined if they are too large for memory. */
  readonly held?: HeldEntries | undefined;
  readonly path: string;
  readonly entryCount: number;
  /** Notes for the user, sentences without a full stop. */
  readonly notes: readonly string[];
}

/**
 * Writes the requests of a run into their file, whose folder is created. The file is written atomically.
 * @param layout layout of the requests
 * @param tokenizer needed only to generate prompts
 * @throws UserError for inputs that cannot be read, RunError if the file cannot be written
 */
export async function writeInputs(
  task: WriteTask,
  tokenizer: Tokenizer | undefined,
  layout: PayloadLayout,
): Promise<WrittenInputs> {
  const { file: path, prompts } = task.requests;
  const folder = dirname(path);
  const payloads = countPayloads(task, layout, createEntries(prompts, tokenizer));
  let made: string | undefined;
  let file: OutputFile | undefined;
  let held: HeldEntries | undefined;
  try {
    made = await mkdir(folder, { recursive: true });
    // Not masked, because later runs may send it.
    file = new OutputFile(path, { isMasked: false });
    const order = isGenerated(prompts.source) ? "session" : "trace";
    held = await writePayloads(file, payloads.each(), order);
    file.commit();
  } catch (error) {
    file?.discard();
    if (made !== undefined) await removeEmpty(folder, made);
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const message = `${path} cannot be written: ${describeWriteError(error)}`;
    throw new RunError("output", message, "Give another folder with --artifact-dir.");
  }
  return { path, held, entryCount: payloads.count(), notes: payloads.notes() };
}

/** Writes the whole file. Returns its entries; undefined if they are too large for memory. */
async function writePayloads(
  file: OutputFile,
  payloads: AsyncIterable<Payload>,
  order: MetadataOrder,
): Promise<HeldEntries | undefined> {
  const entries: HeldEntry[] = [];
  const keepEach = async function* (): AsyncGenerator<Payload> {
    for await (const payload of payloads) {
      if (file.byteCount > MAX_HELD_BYTES) entries.length = 0;
      else entries.push(toHeldEntry(payload, order));
      yield payload;
    }
  };
  let piece = "";
  for await (const text of formatInputsFile(keepEach(), order)) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    file.write(piece);
    piece = "";
  }
  file.write(piece);
  return file.byteCount > MAX_HELD_BYTES ? undefined : packEntries(entries);
}

function toHeldEntry(payload: Payload, order: MetadataOrder): HeldEntry {
  const { body, isTensors, timestampMs: timestamp, delayMs: delay, sessionId: session_id } = payload;
  return { fields: { timestamp, delay, session_id }, payload: toPayload(isTensors ? toRecord(payload, order) : body) };
}

/** Removes folders that were created and are not needed. @param made the outermost of these folders */
async function removeEmpty(folder: string, made: string): Promise<void> {
  const last = resolve(made);
  for (let path = resolve(folder); path.length >= last.length; path = dirname(path)) {
    const isGone = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

/** Returns media in an input file that the endpoint type does not support; undefined if there are none. */
function findLostMedia({ images = [], audio = [] }: PromptEntry, type: EndpointTypeName): string | undefined {
  const { takesImages, takesSounds } = ENDPOINT_TYPES[type];
  if (images.length > 0 && !takesImages) return "images";
  return audio.length > 0 && !takesSounds ? "audio clips" : undefined;
}

function noPlace(lost: string, { endpointType, requests }: WriteTask): UserError {
  const message = `has ${lost}, which requests of the endpoint type ${endpointType} cannot carry`;
  const hint = `Use --endpoint-type multimodal, or a file without ${lost}.`;
  return userError("missing", "--input-file", message, hint, requests.givenSource);
}

/** Result of a check without writing. */
export interface CheckedInputs extends WrittenInputs {
  /** Body of the first request; undefined if there is none. */
  readonly first: Payload["body"] | undefined;
}

/** Creates all requests and writes nothing. Otherwise like {@link writeInputs}. */
export async function checkInputs(task: WriteTask, tokenizer: Tokenizer | undefined): Promise<CheckedInputs> {
  const { file: path, prompts } = task.requests;
  const layout = await openLayout(task.requests, tokenizer);
  const payloads = countPayloads(task, layout, createEntries(prompts, tokenizer));
  let first: Payload["body"] | undefined;
  for await (const { body } of payloads.each()) first ??= body;
  return { path, entryCount: payloads.count(), notes: payloads.notes(), first };
}

function emptyPart(part: SchedulePartPlan, entryCount: number): UserError {
  const path = part.startMs === null ? "--fixed-schedule-end-offset" : "--fixed-schedule-start-offset";
  const message = `no entry is due ${describePart(part)}, of ${entryCount} in the file`;
  return userError("mismatch", path, message, "Give a part of the schedule that has entries.");
}

function countPayloads(
  task: WriteTask,
  layout: PayloadLayout,
  entries: ReturnType<typeof createEntries>,
): { each(): AsyncGenerator<Payload>; count(): number; notes(): string[] } {
  const { requests, load, endpointType, entryLimit = Number.POSITIVE_INFINITY } = task;
  const part = fieldOf(load, "part");
  const check = new LoadCheck(load, requests.givenSource);
  let position = 0;
  let leftOutCount = 0;
  let count = 0;
  return {
    async *each() {
      for await (const entry of entries) {
        check.add(entry, position);
        if (part !== undefined && entry.timestampMs !== undefined && !isInPart(part, entry.timestampMs)) {
          leftOutCount++;
          continue;
        }
        const lost = findLostMedia(entry, endpointType);
        if (lost !== undefined) throw noPlace(lost, task);
        for (const payload of layout.create(entry, position++)) {
          count++;
          yield payload;
          if (count >= entryLimit) return;
        }
      }
      if (part !== undefined && position === 0 && leftOutCount > 0) throw emptyPart(part, leftOutCount);
      check.finish();
    },
    count: () => count,
    notes: () => {
      const total = position + leftOutCount;
      const leftOut = part !== undefined && leftOutCount > 0;
      return [
        ...check.notes(),
        ...(leftOut ? [`${leftOutCount} of ${total} entries are not due ${describePart(part)}, and are left out`] : []),
      ];
    },
  };
}
