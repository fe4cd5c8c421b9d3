import { parseJson } from "../../plan/objects.ts";
/** One server-sent event, or one whole JSON body. */
export interface ServerEvent {
  /** Index of the read in which the event began. */
  readonly read: number;
  /** The event's name; empty without one. */
  readonly name: string;
  /** The event's data lines, joined. Comments and empty events are left out. */
  readonly data: string;
}

/** Start of an event's line. */
const FIELD = /^(?:data:|event:|id:|retry:|:)/;
/** Separator of events and lines in text with a CR. Few streams contain a CR, and splitting at a string is several times faster. */
const BLANK_LINE = /\r?\n\r?\n|\r\r/;
const LINE_END = /\r\n|\n|\r/;

/**
 * Splits socket reads into events. An event that spans several reads belongs to the read in which it began, so that its time is that of
 * its first bytes. A JSON body that spans several reads belongs to the read in which it ended. The last blank line of a read may be
 * missing.
 */
export function splitEvents(reads: readonly string[]): ServerEvent[] {
  const events: ServerEvent[] = [];
  let open = "";
  let openRead = 0;
  const close = (): void => {
    addEvent(events, openRead, open);
    open = "";
  };
  for (let read = 0; read < reads.length; read++) {
    const text = reads[read] as string;
    if (open === "" && isOneLine(text)) {
      events.push({ read, name: "", data: text.slice(5, -2).trim() });
      continue;
    }
    if (open !== "" && FIELD.test(text) && isWhole(open)) close();
    if (open === "" || isBody(open)) openRead = read;
    open += text;
    if (isBody(open)) {
      // The last body ends with the last read. It is parsed later, when its event is read.
      if (read < reads.length - 1 && isComplete(open)) close();
      continue;
    }
    const parts = open.split(open.includes("\r") ? BLANK_LINE : "\n\n");
    open = parts.pop() as string;
    for (const part of parts) {
      addEvent(events, openRead, part);
      openRead = read;
    }
  }
  close();
  return events;
}

/** Whether a read consists of one event with one line, as most do. */
function isOneLine(text: string): boolean {
  return (
    text.startsWith("data:") && text.indexOf("\n") === text.length - 2 && text.endsWith("\n") && !text.includes("\r")
  );
}

function isBody(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

function isComplete(text: string): boolean {
  return parseJson(text) !== undefined;
}

/** Whether an event without its blank line can end here. A colon at the start of a line may also be a continuation of split JSON. */
function isWhole(text: string): boolean {
  if (isBody(text)) return false;
  const { data, isComment } = readLines(text);
  return data === undefined ? isComment : data === "[DONE]" || isComplete(data);
}

function addEvent(events: ServerEvent[], read: number, text: string): void {
  if (isBody(text)) {
    events.push({ read, name: "", data: text.trim() });
    return;
  }
  const { name, data } = readLines(text);
  if (data !== undefined || name !== "") events.push({ read, name, data: data ?? "" });
}

interface EventLines {
  readonly name: string;
  /** Data; undefined without data lines. */
  readonly data: string | undefined;
  /** Whether the event consists of comments only. */
  readonly isComment: boolean;
}

function readLines(text: string): EventLines {
  let name = "";
  let data: string | undefined;
  let isComment = true;
  for (const line of text.split(text.includes("\r") ? LINE_END : "\n")) {
    if (line === "") continue;
    if (!line.startsWith(":")) isComment = false;
    if (line.startsWith("data:")) data = joinLines(data, line.slice(5).trim());
    else if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (data !== undefined && !FIELD.test(line)) data = joinLines(data, line);
  }
  return { name, data, isComment };
}

function joinLines(before: string | undefined, line: string): string {
  return before === undefined ? line : `${before}\n${line}`;
}
