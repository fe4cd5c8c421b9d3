import type { ResponsePart } from "./response-parts.ts";

/** Text that no server sends. It needs no escapes in JSON. */
const PROBE = "\u27e6text\u27e7";
/** What JSON writes differently in a string, or does not allow. */
const ESCAPED = /["\\\p{Cc}]/u;
/** Forms that are looked for in one response. Servers that number their events have a form for each, and are parsed. */
const MOST_FORMS = 2;

/**
 * The form of a stream's events. Most of them differ in nothing but their text, which is then read between what they have in common: parsing the JSON
 * of each takes five times as long. For one response.
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

  /** Returns the text of an event of the known form; undefined when it has another one, or a text that has to be parsed. */
  private textIn(data: string): string | undefined {
    const { head, tail } = this;
    const length = data.length - head.length - tail.length;
    if (head === "" || length < 1 || !data.startsWith(head) || !data.endsWith(tail)) return undefined;
    const text = data.slice(head.length, head.length + length);
    return ESCAPED.test(text) ? undefined : text;
  }

  /** Takes the form of an event if its text stands in one place, which another text in that place shows. */
  private learn(data: string, text: string): void {
    this.formCount++;
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

/** Whether an event has a text and nothing else that counts. */
function isOnlyText(part: ResponsePart): boolean {
  const { text, reasoning, toolCalls, tokenCount, usage, finishReason, error, choices } = part;
  const others = [toolCalls, tokenCount, usage, finishReason, error, choices];
  return text !== "" && reasoning === "" && others.every((value) => value === undefined);
}
