import type { ResponsePart } from "./response-parts.ts";

/** Text that servers do not send. It needs no escapes in JSON. */
const PROBE = "\u27e6text\u27e7";
/** Characters that JSON escapes in a string, or does not allow. */
const ESCAPED = /["\\\p{Cc}]/u;
/**
 * Number of forms that are learned in one response. Servers that number their events have a different form for each
 * event, and their events are parsed.
 */
const MOST_FORMS = 2;

/**
 * The form of a stream's events, for one response. Most events differ only in their text, which is then read between the common parts:
 * parsing the JSON of each event takes five times as long.
 */
export class EventTemplate {
  private readonly parse: (data: string) => ResponsePart;
  private head = "";
  private tail = "";
  private formCount = 0;

  /** @param parse reads any event's data */
  constructor(parse: (data: string) => ResponsePart) {
    this.parse = parse;
  }

  /** Reads an event's data like `parse`. @throws what `parse` throws */
  read(data: string): ResponsePart {
    const text = this.textIn(data);
    if (text !== undefined) return { text, reasoning: "" };
    const part = this.parse(data);
    if (this.formCount < MOST_FORMS && isOnlyText(part)) this.learn(data, part.text);
    return part;
  }

  /** Returns the text of an event of the known form; undefined if the form differs, or if the text must be parsed. */
  private textIn(data: string): string | undefined {
    const { head, tail } = this;
    const length = data.length - head.length - tail.length;
    if (head === "" || length < 1 || !data.startsWith(head) || !data.endsWith(tail)) return undefined;
    const text = data.slice(head.length, head.length + length);
    return ESCAPED.test(text) ? undefined : text;
  }

  /** Learns the form of an event if its text occurs in exactly one place, which is checked with another text in that place. */
  private learn(data: string, text: string): void {
    this.formCount++;
    // Another place with the same text would look right too, because the probe would change nothing.
    if (text === PROBE) return;
    const quoted = JSON.stringify(text);
    const at = data.indexOf(quoted);
    if (at < 0) return;
    const head = data.slice(0, at + 1);
    const tail = data.slice(at + quoted.length - 1);
    const other = this.parse(`${head}${PROBE}${tail}`);
    if (other.text !== PROBE || !isOnlyText(other)) return;
    this.head = head;
    this.tail = tail;
  }
}

/** Whether an event has text and no other relevant fields. */
function isOnlyText(part: ResponsePart): boolean {
  const { text, reasoning, toolCalls, tokenCount, usage, finishReason, error, choices } = part;
  const others = [toolCalls, tokenCount, usage, finishReason, error, choices];
  return text !== "" && reasoning === "" && others.every((value) => value === undefined);
}
