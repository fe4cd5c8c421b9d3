import type { Note } from "../model/report-model.ts";
import { ORDER, withoutNumbers } from "./make-notes.ts";

/** A note with its place: a point of a sweep, or a side of a comparison. */
export interface PlacedNote {
  readonly at: string;
  readonly note: Note;
}

/**
 * Joins notes that differ only in numbers: the places, followed by the text of the most severe note, then the other places with
 * such a note.
 * @param all number of places: a note about all of them names none
 * @param noun name of three or more places: `points`
 */
export function joinNotes(placed: readonly PlacedNote[], all: number, noun: string): Note[] {
  const groups = [...Map.groupBy(placed, ({ note }) => kindOf(note)).values()];
  return groups.map((group) => {
    const [{ note }] = group.toSorted((a, b) => ORDER.indexOf(a.note.severity) - ORDER.indexOf(b.note.severity)) as [
      PlacedNote,
    ];
    const same = placesOf(group.filter((one) => one.note.text === note.text));
    const others = placesOf(group).filter((at) => !same.includes(at));
    const list = (places: readonly string[], more = ""): string =>
      places.length > 2 ? `${places.length} ${more}${noun}` : places.join("; ");
    const lower = note.text.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
    const text = same.length === all && all > 1 ? note.text : `${list(same)}: ${lower}`;
    const levels = [...new Set(group.flatMap((one) => one.note.levels))];
    return { ...note, levels, text: others.length === 0 ? text : `${text} Likewise ${list(others, "more ")}.` };
  });
}

/** Joins texts of notes in the same way. */
export function joinTexts(
  placed: readonly { readonly at: string; readonly text: string }[],
  all: number,
  noun: string,
): string[] {
  const notes = placed.map(
    ({ at, text }): PlacedNote => ({ at, note: { code: "", severity: "caution", levels: [], text } }),
  );
  return joinNotes(notes, all, noun).map(({ text }) => text);
}

function placesOf(placed: readonly PlacedNote[]): string[] {
  return [...new Set(placed.map(({ at }) => at))];
}

/** Returns a key that notes share if they begin with the same text, except for levels and numbers. */
function kindOf({ code, metric = "", text }: Note): string {
  const [first] = withoutNumbers(text.replace(/^At [^:]*: /, "")).split(/[.,;:(]/);
  return `${code} ${metric} ${first?.toLowerCase()}`;
}
