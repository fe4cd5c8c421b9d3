import { type FunctionPlan, functionOf } from "../../plan/functions.ts";
import type { Tags } from "../../plan/groups/tags.ts";
import { defined } from "../../plan/objects.ts";
import { UserError, userError } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import { joinBytes } from "../../runtime/bytes.ts";
import { createRandomFor } from "../../runtime/random.ts";
import { encoder } from "../../runtime/text.ts";
import { createPayload, type PayloadFormat } from "../../service/openai/payload.ts";
import type { ModelInfo } from "../../service/service.ts";
import { describeUserError, readReturned } from "../../service/user-defined/user-error.ts";
import { type DataStep, type Dataset, NO_TENSORS, type StepTensor } from "../dataset.ts";
import { type HeldEntries, packEntries, unpackEntries } from "../held-entries.ts";
import { EntryReader } from "../json-entry.ts";
import { toPayload, toPayloadStep } from "../payload-entry.ts";
import { MAX_MADE_BYTES } from "../requests.ts";
import { readTags, TAGS_HINT } from "../tagged-input.ts";
import type { GenerateContext, InputMaker } from "./generated-input.ts";

/** Source of inputs. */
interface Source {
  /** An {@link InputMaker}. */
  readonly make: FunctionPlan;
  readonly count: number;
  readonly seed: number;
}

/** Conversion of prompts to bodies. */
interface PayloadSource extends Source {
  readonly format?: { readonly name: string; readonly model: string; readonly isStreaming: boolean } | undefined;
}

const HINT = "Correct the function of generate(…).";

/** Loads the tensors that a scenario's function makes. @throws UserError if it throws, or if its results do not fit the model */
export async function loadGeneratedTensors(source: Source, model: ModelInfo): Promise<Dataset> {
  const reader = new EntryReader(model, false, []);
  const steps: DataStep[] = [];
  const count = countBytes();
  for await (const made of makeInputs(source, model)) {
    const place = placeOf(steps.length);
    const step = readReturned(place, made, (): DataStep => {
      const { tensors } = (made ?? {}) as { tensors?: unknown };
      if (typeof tensors !== "object" || tensors === null)
        throw wrong(place, "has no tensors", "Yield { tensors: { INPUT0: […] } }.", made);
      refuseOthers(made, "tensors", place);
      const inputs = reader.inputs(place, toEntry(tensors, place), { stream: 0, step: steps.length });
      return { inputs, expected: NO_TENSORS, place, ...tagsOf(made, place) };
    });
    steps.push(count(step));
  }
  reader.finish();
  return toDataset(steps);
}

/** Loads the payloads that a scenario's function makes. @throws UserError if it throws, or returns something else */
export async function loadGeneratedPayloads(source: PayloadSource): Promise<Dataset> {
  const steps: DataStep[] = [];
  const count = countBytes();
  for await (const made of makeInputs(source)) {
    const place = placeOf(steps.length);
    const step = readReturned(place, made, () =>
      toPayloadStep(payloadOf(made, steps.length, source, place), { place, ...tagsOf(made, place) }),
    );
    steps.push(count(step));
  }
  return toDataset(steps);
}

/** Returns a function that counts the bytes of inputs and returns them. @throws UserError if they exceed {@link MAX_MADE_BYTES} */
function countBytes(): (step: DataStep) => DataStep {
  let totalBytes = 0;
  return (step) => {
    const { payload, inputs, place = "inputs" } = step;
    totalBytes += payload?.length ?? 0;
    for (const name of inputs.keys()) totalBytes += inputs.get(name)?.bytes?.length ?? 0;
    if (totalBytes <= MAX_MADE_BYTES) return step;
    const message = `makes ${totalBytes} bytes of inputs until here, more than ${MAX_MADE_BYTES}`;
    throw userError("invalid-value", place, message, "Make fewer different inputs with count, or smaller ones.");
  };
}

/** Packs the data that a function made, so that other senders need not call it. */
export function holdMade({ streams }: Dataset): HeldEntries {
  return packEntries(
    streams.flat().map(({ payload, inputs, tags }) => {
      const tagged = tags === undefined ? {} : { tags };
      if (payload !== undefined) return { payload, fields: tagged };
      const tensors = [...inputs.keys()].flatMap((name) => {
        const { bytes, shape } = inputs.get(name) ?? {};
        return bytes === undefined ? [] : [{ name, bytes, shape }];
      });
      const packed = tensors.map(({ name, bytes, shape }): MadeTensor => ({ name, byteCount: bytes.length, shape }));
      return { payload: joinBytes(tensors.map(({ bytes }) => bytes)), fields: { tensors: packed, ...tagged } };
    }),
  );
}

/** Position of a tensor in the bytes of a packed input. */
interface MadeTensor {
  readonly name: string;
  readonly byteCount: number;
  readonly shape: readonly number[] | undefined;
}

/** Unpacks the data from {@link holdMade}. */
export function takeMade(held: HeldEntries): Dataset {
  return toDataset(
    unpackEntries(held).map(({ payload, fields }, index): DataStep => {
      const { tags, tensors } = fields as { readonly tags?: Tags; readonly tensors?: readonly MadeTensor[] };
      const facts = { place: placeOf(index), ...defined({ tags }) };
      if (tensors === undefined) return toPayloadStep(payload, facts);
      let end = 0;
      const inputs = tensors.map(({ name, byteCount, shape }): [string, StepTensor] => {
        end += byteCount;
        // Elements must be aligned, so they are read from a copy.
        const bytes = payload.slice(end - byteCount, end);
        return [name, shape === undefined ? { bytes } : { bytes, shape }];
      });
      return { inputs: new Map(inputs), expected: NO_TENSORS, ...facts };
    }),
  );
}

/** Yields the results of the function, at most `count`. */
async function* makeInputs({ make, count, seed }: Source, model?: ModelInfo): AsyncGenerator<unknown> {
  const fn = functionOf<InputMaker<unknown>>(make);
  const context: Omit<GenerateContext, "index"> = {
    random: createRandomFor(seed, "generate"),
    tensors: (model?.inputs ?? []).map(({ name, datatype, shape }) => ({ name, datatype, shape })),
  };
  let index = 0;
  try {
    const first: unknown = await fn({ index, ...context });
    if (isIterable(first)) {
      for await (const made of first) {
        yield made;
        if (++index === count) return;
      }
    } else
      for (let made: unknown = first; ; made = await fn({ index, ...context })) {
        yield made;
        if (++index === count) return;
      }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw userError("exception", placeOf(index), `throws: ${describeUserError(error)}`, HINT);
  }
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** Converts typed arrays to the form that entries of JSON files have. */
function toEntry(tensors: object, place: string): object {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, given]: [string, unknown]) => {
      if (ArrayBuffer.isView(given)) return [name, toElements(given)];
      if (fieldsOf(given).includes("content")) refuseOthers(given, "content", `${place}, ${name}`);
      const { content } = (given ?? {}) as { content?: unknown };
      return [name, ArrayBuffer.isView(content) ? { ...(given as object), content: toElements(content) } : given];
    }),
  );
}

function toElements(view: ArrayBufferView): unknown {
  if (view instanceof Uint8Array) {
    const parts: string[] = [];
    for (let at = 0; at < view.length; at += 8192) parts.push(String.fromCharCode(...view.subarray(at, at + 8192)));
    return { b64: btoa(parts.join("")) };
  }
  return Array.from(view as typeof view & Iterable<unknown>);
}

function payloadOf(made: unknown, position: number, { format, seed }: PayloadSource, place: string): Uint8Array {
  const { body, prompt, osl, file } = (made ?? {}) as Readonly<Record<string, unknown>>;
  const form = (["file", "body", "prompt"] as const).find((name) => fieldsOf(made).includes(name));
  if (form !== undefined) refuseOthers(made, form, place);
  if (file instanceof Uint8Array) return file.slice();
  if (body instanceof Uint8Array) return body.slice();
  if (typeof body === "string") return encoder.encode(body);
  if (typeof body === "object" && body !== null) return toPayload(body);
  if (typeof prompt === "string" && format !== undefined) {
    const settings = {
      format: format.name as PayloadFormat,
      models: [format.model],
      modelSelection: "round_robin",
      seed,
      isStreaming: format.isStreaming,
      asksUsage: true,
      hasExactOutput: false,
      extra: {},
    } as const;
    if (osl !== undefined && !(Number.isSafeInteger(osl) && (osl as number) > 0))
      throw wrong(`${place}.osl`, "must be a whole number, 1 or more", "It is the most tokens of the response.", osl);
    const entry = { texts: [prompt], ...(osl === undefined ? {} : { maxTokens: osl as number }) };
    return toPayload(createPayload(entry, position, settings).body);
  }
  const [what, hint] =
    format === undefined
      ? ["has no body and no file", "Yield { body: {…} } for an HTTP server, or { file: bytes }."]
      : ["has no body and no prompt", "Yield { body: {…} } or { prompt: text }."];
  throw wrong(place, what, hint, made);
}

/** The fields of an input, or of one of its tensors, by the required field, with a description if the name is not enough. */
const FIELDS = {
  tensors: { names: ["tensors", "tags"], meaning: "" },
  file: { names: ["file", "tags"], meaning: "" },
  body: { names: ["body", "tags"], meaning: "" },
  content: { names: ["content", "shape"], meaning: "" },
  prompt: { names: ["prompt", "osl", "tags"], meaning: "; osl is the most tokens of the response" },
} as const;

/** @throws UserError for fields that are not allowed together */
function refuseOthers(made: unknown, form: keyof typeof FIELDS, place: string): void {
  const { names, meaning } = FIELDS[form];
  const others = fieldsOf(made).filter((name) => !(names as readonly string[]).includes(name));
  if (others.length === 0) return;
  const what = others.length === 1 ? "a field that does" : "fields that do";
  const hint = `The fields are ${names.join(", ")}${meaning}.`;
  throw userError("invalid-value", place, `has ${what} not belong to ${form}`, hint, others.join(", "));
}

function fieldsOf(made: unknown): string[] {
  return Object.entries((made ?? {}) as object).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function tagsOf(made: unknown, place: string): { tags?: Tags } {
  const { tags: given } = made as { tags?: unknown };
  if (given === undefined) return {};
  const tags = readTags(given);
  if (tags === undefined)
    throw wrong(place, "has tags that are not an object of texts, numbers or booleans", TAGS_HINT, given);
  return { tags };
}

function toDataset(steps: readonly DataStep[]): Dataset {
  if (steps.length === 0) throw userError("missing", "inputs", "the function of generate(…) makes no input", HINT);
  const hasTags = steps.some(({ tags }) => tags !== undefined);
  return { streams: [steps], isFromJson: true, ...(hasTags ? { hasTags } : {}), warnings: [] };
}

function placeOf(index: number): string {
  return `inputs, generate(…), input ${index}`;
}

function wrong(place: string, message: string, hint: string, value: unknown): UserError {
  return userError("invalid-value", place, message, hint, showValue(value));
}
