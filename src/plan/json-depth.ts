/** How deep JSON from outside may be nested: what walks it recursively would end at the stack's size. */

/** Deepest nesting of lists and objects that is read. */
export const MAX_JSON_DEPTH = 500;

/** `JSON.parse` of text from outside. Throws `SyntaxError` too where it is nested deeper than {@link MAX_JSON_DEPTH} levels. */
export function parseOutsideJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isTooDeep(value)) throw new SyntaxError(`it ${TOO_DEEP}`);
  return value;
}

/** What is wrong with a deeper value, as a problem says it. */
export const TOO_DEEP = `is nested deeper than ${MAX_JSON_DEPTH} levels`;

/** Whether a parsed value is nested deeper than {@link MAX_JSON_DEPTH} levels. Does not recurse; numbers and texts cost next to nothing. */
export function isTooDeep(value: unknown): boolean {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true;
    const next: object[] = [];
    for (const parent of level) {
      const items: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
      for (const item of items) if (typeof item === "object" && item !== null) next.push(item);
    }
    level = next;
  }
  return false;
}
