import { AnswerForm } from "../known-answers.ts";

const LF = 10;
const LETTER_D = 0x64;
/** Enough to recognize an event. Compared for every token. */
const HEAD_BYTES = 64;
/** At least the end of an event's JSON with its empty line. */
const TAIL_BYTES = 3;
/** More kinds of events than any protocol has. */
const MAX_FORMS = 32;
/** Start of an event whose document begins with an error. */
const ERROR_START = 'data: {"error"';

/** What valid events have in common, by the length of the first line if that is the event's name. */
export class EventForms {
  private readonly forms = new Map<number, AnswerForm>();

  /** Whether an event has everything that valid ones had in common. */
  has(event: Uint8Array): boolean {
    if (startsWith(event, ERROR_START)) return false;
    return this.forms.get(keyOf(event))?.has(event, 0, event.length) === true;
  }

  /** Adds a valid event with data. */
  add(event: Uint8Array): void {
    const key = keyOf(event);
    let form = this.forms.get(key);
    if (form === undefined) {
      if (this.forms.size >= MAX_FORMS) return;
      form = new AnswerForm(HEAD_BYTES, TAIL_BYTES);
      this.forms.set(key, form);
    }
    form.add(event, 0, event.length);
  }
}

/** Returns the length of the first line if it is the event's name, otherwise 0. */
function keyOf(event: Uint8Array): number {
  return event[0] === LETTER_D ? 0 : event.indexOf(LF) + 1;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false;
  return true;
}
