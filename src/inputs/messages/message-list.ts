import { type Text, word } from "../../plan/messages.ts";
import { nameHint } from "../../plan/nearest-name.ts";
import { notJson, type Problem, problem, UserError } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { encoder } from "../../runtime/text.ts";
import { parseLossless } from "../../service/lossless-json.ts";
import type { MessageForm, ModelInfo } from "../../service/service.ts";
import { type DataStep, type Dataset, NO_TENSORS } from "../dataset.ts";
import { readWhole } from "../large-file.ts";
import { refuseValidation } from "../payload-entry.ts";
import { MIXED, MIXED_HINT, StepStreams } from "../step-streams.ts";
import { GeneratorError, runMessageGenerator } from "./message-generator.ts";

const MAX_PROBLEMS = 20;
const ENTRY_HINT = 'Write {"messages": [{…}]}, {"message": {…}} or {"message_generator": "COMMAND"}.';

/** Fields of an entry that contain its messages. */
const KEYS = ["message", "messages", "message_bytes", "message_generator"] as const;

/** Messages may have any type, and a call any number of them. */
const ANY_FORM: MessageForm = { isStream: true };

/**
 * Reads the messages of calls. An entry is one call, and a list of entries is a stream of calls:
 *
 * - `{"messages": [{…}, …]}`: its messages in protobuf's JSON mapping; `{"message": {…}}` for one
 * - `{"message_bytes": ["…"]}`: encoded messages in Base64
 * - `{"message_generator": "COMMAND"}`: a command that writes encoded messages, each after its length of 4 bytes. If calls have one
 * message each, each message of a generator is a call
 *
 * @param files JSON files, `{"data": [ENTRY, …]}` or `{"data": [[ENTRY, …], …]}`
 * @param entries more entries
 * @param folder working directory of generators; default: the current one
 * @throws UserError with the place of each entry that is not valid
 */
export async function readMessageLists(
  files: readonly string[],
  entries: readonly unknown[],
  { name, messages = ANY_FORM }: ModelInfo,
  folder?: string,
): Promise<Dataset> {
  const list = new MessageList(name, messages, folder);
  for (const file of files)
    await list.addAll(readEntries(file, await readWhole(file)), (index) => `${file}, data[${index}]`);
  await list.addAll(entries, (index) => (entries.length === 1 ? "" : `.calls[${index}]`), {
    setting: "inputs.entries",
  });
  return list.finish();
}

/** @throws UserError if the text has no list `data` */
function readEntries(file: string, text: string): readonly unknown[] {
  let root: object;
  try {
    root = (parseLossless(text) ?? {}) as object;
  } catch (error) {
    throw notJson(file, error);
  }
  for (const key of Object.keys(root)) refuseValidation(file, key);
  const { data } = root as { data?: unknown };
  if (Array.isArray(data) && data.length > 0) return data;
  const what = Array.isArray(data) ? "has no entries in 'data'" : "has no list 'data'";
  throw new UserError([problem("missing", file, what, 'Write {"data": [{"messages": [{…}]}]}.')]);
}

class MessageList {
  private readonly steps = new StepStreams();
  /** The stream to which entries are added. */
  private stream: DataStep[] = [];
  private readonly problems: Problem[] = [];
  /** The beginning of the places of entries. */
  private root: Text = "";
  private readonly method: string;
  private readonly form: MessageForm;
  private readonly folder: string | undefined;

  constructor(method: string, form: MessageForm, folder: string | undefined) {
    this.method = method;
    this.form = form;
    this.folder = folder;
  }

  async addAll(entries: readonly unknown[], placeOf: (index: number) => string, root: Text = ""): Promise<void> {
    this.root = root;
    for (const [index, element] of entries.entries()) {
      if (this.problems.length >= MAX_PROBLEMS) return;
      await this.addElement(element, placeOf(index));
    }
  }

  private async addElement(element: unknown, place: string): Promise<void> {
    const isList = Array.isArray(element);
    const stream = this.steps.open(isList);
    if (stream === undefined) {
      this.report(place, MIXED, MIXED_HINT);
      return;
    }
    this.stream = stream;
    if (!isList) await this.add(element, place);
    else if (element.length === 0) this.report(place, "is a stream without entries", ENTRY_HINT);
    else for (const [index, entry] of element.entries()) await this.add(entry, `${place}[${index}]`);
  }

  finish(): Dataset {
    if (this.problems.length > 0) throw new UserError(this.problems);
    return { streams: this.steps.streams, isFromJson: true, warnings: [] };
  }

  private async add(entry: unknown, place: string): Promise<void> {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
      this.report(place, "is not an object", ENTRY_HINT, showValue(entry));
      return;
    }
    const fields = entry as Readonly<Record<string, unknown>>;
    const keys = Object.keys(fields);
    const [key] = keys;
    if (key === undefined || keys.length > 1 || !KEYS.some((one) => one === key)) {
      const unknown = keys.find((one) => !KEYS.some((known) => known === one));
      const message =
        unknown === undefined ? `must have one of ${KEYS.join(", ")}` : `has the unknown field '${unknown}'`;
      this.report(place, message, nameHint(unknown ?? "", KEYS, ENTRY_HINT));
      return;
    }
    const value = fields[key];
    if (key === "message_generator") await this.addGenerated(value, place);
    else if (key === "message_bytes") this.addEncoded(value, place);
    else if (key === "message") this.addCall([value], `${place}.message`, () => "");
    else if (Array.isArray(value)) this.addCall(value, `${place}.messages`, (index) => `[${index}]`);
    else this.report(`${place}.messages`, "must be a list of messages", 'Write "message" for one.', showValue(value));
  }

  /** Adds a call whose messages are plain data. */
  private addCall(values: readonly unknown[], place: string, indexOf: (index: number) => string): void {
    const encoded: Uint8Array[] = [];
    for (const [index, value] of values.entries()) {
      const bytes = this.encode(value, `${place}${indexOf(index)}`);
      if (bytes !== undefined) encoded.push(bytes);
    }
    if (encoded.length === values.length) this.addStep(encoded, encoder.encode(writeText(values)), place);
  }

  /** Returns the encoded message; undefined after a problem. */
  private encode(value: unknown, place: string): Uint8Array | undefined {
    const encode = this.form.encode;
    if (encode === undefined) {
      const message = `the message type of ${this.method} is not known: the server has no reflection`;
      this.report(place, message, { say: "encode-messages" });
      return undefined;
    }
    const encoded = encode(value);
    if ("bytes" in encoded) return encoded.bytes;
    for (const { path, message } of encoded.problems)
      this.report(path === "" ? place : `${place}.${path}`, message, "Correct the message.");
    return undefined;
  }

  private addEncoded(value: unknown, place: string): void {
    const texts = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    const encoded = texts.map((text) => (typeof text === "string" ? decodeBase64(text) : undefined));
    const wrong = encoded.indexOf(undefined);
    if (wrong < 0) this.addStep(encoded as Uint8Array[], NO_BYTES, place);
    else
      this.report(
        `${place}.message_bytes[${wrong}]`,
        "is not Base64",
        "Give each encoded message in Base64.",
        showValue(texts[wrong]),
      );
  }

  private async addGenerated(command: unknown, place: string): Promise<void> {
    if (typeof command !== "string" || command.trim() === "") {
      this.report(`${place}.message_generator`, "must be a command", 'Write "python3 example.py".', showValue(command));
      return;
    }
    try {
      const messages = await runMessageGenerator(command, {}, this.folder);
      if (this.form.isStream) this.addStep(messages, NO_BYTES, place);
      else
        for (const [index, message] of messages.entries())
          this.addStep([message], NO_BYTES, `${place}, message ${index + 1}`);
    } catch (error) {
      if (!(error instanceof GeneratorError)) throw error;
      const { message, stderr } = error;
      const framing = "It must write each message after its length, 4 bytes in this machine's byte order.";
      this.report(place, message, stderr === "" ? framing : `${framing} It wrote to stderr: ${stderr}`);
    }
  }

  private addStep(messages: readonly Uint8Array[], payload: Uint8Array, place: string): void {
    if (!this.form.isStream && messages.length !== 1) {
      const message = `has ${messages.length} messages, but a call of ${this.method} has one`;
      this.report(place, message, "Write an entry for each call.");
      return;
    }
    this.stream.push({ payload, messages, inputs: NO_TENSORS, expected: NO_TENSORS, place: word(this.at(place)) });
  }

  private report(place: string, message: string, hint: Text, value?: string): void {
    this.problems.push(problem("invalid-value", this.at(place), message, hint, value));
  }

  private at(place: string): Text {
    return this.root === "" ? place : [this.root, place];
  }
}

/** Returns messages as JSON; integers above 2^53 as text, as in protobuf's JSON mapping. */
function writeText(values: readonly unknown[]): string {
  return JSON.stringify(values, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

function decodeBase64(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}
