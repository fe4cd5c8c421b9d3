/** One server-sent event, or one whole JSON body. */
export interface ServerEvent {
  /** Index of the read in which it began. */
  readonly read: number;
  /** The event's name; empty without one. */
  readonly name: string;
  /** Its data lines, joined. Comments and empty events are left out. */
  readonly data: string;
}

/** Start of an event's line. */
const FIELD = /^(?:data:|event:|id:|retry:|:)/;

/**
 * Splits socket reads into events. An event that spans several reads counts where it began, so that its time is that of its first bytes; a
 * JSON body that spans several reads counts where it ended. The last blank line of a read may be missing.
 */
export function splitEvents(reads: readonly string[]): ServerEvent[] {
  const events: ServerEvent[] = [];
  let open = "";
  let openRead = 0;
  const close = (): void => {
    addEvent(events, openRead, open);
    open = "";
  };
  for (const [read, text] of reads.entries()) {
    if (open !== "" && FIELD.test(text) && isWhole(open)) close();
    if (open === "" || isBody(open)) openRead = read;
    open += text;
    if (isBody(open)) {
      if (isComplete(open)) close();
      continue;
    }
    let from = 0;
    for (const { index, 0: blank } of open.matchAll(/\r?\n\r?\n|\r\r/g)) {
      addEvent(events, openRead, open.slice(from, index));
      from = index + blank.length;
      openRead = read;
    }
    open = open.slice(from);
  }
  close();
  return events;
}

function isBody(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
  /** Undefined without data lines. */
  readonly data: string | undefined;
  /** Whether there are only comments. */
  readonly isComment: boolean;
}

function readLines(text: string): EventLines {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== "");
  const data: string[] = [];
  let name = "";
  for (const line of lines) {
    if (line.startsWith("data:")) data.push(line.slice(5).trim());
    else if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (data.length > 0 && !FIELD.test(line)) data.push(line);
  }
  return {
    name,
    data: data.length === 0 ? undefined : data.join("\n"),
    isComment: lines.every((line) => line.startsWith(":")),
  };
}
