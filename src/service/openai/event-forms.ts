import { AnswerForm } from "../known-answers.ts";

const LF = 10;
const LETTER_D = 0x64;
/** Enough to tell an event from anything else: this is looked at for every token. */
const HEAD_BYTES = 64;
/** The end of an event's JSON with its empty line, at least. */
const TAIL_BYTES = 3;
/** More kinds of events than any protocol has. */
const MAX_FORMS = 32;
/** How an event begins whose document starts with an error. */
const ERROR_START = 'data: {"error"';

/** What good events have in common, by the length of their first line where that is a name. */
export class EventForms {
  private readonly forms = new Map<number, AnswerForm>();

  /** Whether an event is as good as those before it. */
  has(event: Uint8Array): boolean {
    if (startsWith(event, ERROR_START)) return false;
    return this.forms.get(keyOf(event))?.has(event, 0, event.length) === true;
  }

  /** Takes a good event that has data. */
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

/** 0 for events without a name, otherwise the length of the line that has it. */
function keyOf(event: Uint8Array): number {
  return event[0] === LETTER_D ? 0 : event.indexOf(LF) + 1;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false;
  return true;
}
