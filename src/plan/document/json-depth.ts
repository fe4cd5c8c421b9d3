/** Maximum nesting of lists and objects in external JSON, so that recursive code cannot overflow the stack. */
export const MAX_JSON_DEPTH = 500;

/** Parses external JSON. @throws SyntaxError, also if it is nested deeper than {@link MAX_JSON_DEPTH} levels */
export function parseOutsideJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isTooDeep(value)) throw new SyntaxError(`it ${TOO_DEEP}`);
  return value;
}

/** Problem message for a value that is nested deeper. */
export const TOO_DEEP = `is nested deeper than ${MAX_JSON_DEPTH} levels`;

/** Reports whether a parsed value is nested deeper than {@link MAX_JSON_DEPTH} levels. Does not recurse. */
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
