/** Finds errors in Jinja templates, because the library's errors have no position. */

interface Tag {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** Blocks that need an end tag. */
const OPENING = /^\{%-?\s*(if|for|macro|call|filter|set(?!.*=))\b/s;
const CLOSING = /^\{%-?\s*end(if|for|macro|call|filter|set)\b/s;
const INNER = /^\{%-?\s*(?:else|elif|raw|endraw)\b/s;

/**
 * Returns the line of the first invalid tag, or of a block without its start or end.
 * @param isBroken whether a text is not a valid template
 * @returns undefined when no single tag is the cause
 */
export function findFailingLine(text: string, isBroken: (text: string) => boolean): number | undefined {
  const open: { readonly name: string; readonly line: number }[] = [];
  for (const tag of tagsOf(text)) {
    const opened = OPENING.exec(tag.text)?.[1];
    const closed = CLOSING.exec(tag.text)?.[1];
    if (closed !== undefined) {
      if (open.pop()?.name !== closed) return tag.line;
    } else if (!INNER.test(tag.text)) {
      if (isBroken(opened === undefined ? tag.text : `${tag.text}{% end${opened} %}`)) return tag.line;
      if (opened !== undefined) open.push({ name: opened, line: tag.line });
    }
  }
  return open.at(-1)?.line;
}

/** Returns the line of the first tag that contains a name. */
export function findLineOf(text: string, name: string): number | undefined {
  const word = new RegExp(`\\b${name}\\b`);
  return tagsOf(text).find((tag) => word.test(tag.text))?.line;
}

/** Returns all tags; an unclosed one extends to the end. */
function tagsOf(text: string): Tag[] {
  return [...text.matchAll(/\{\{[\s\S]*?(?:\}\}|$)|\{%[\s\S]*?(?:%\}|$)/g)].map(({ 0: tag, index }) => ({
    text: tag,
    line: text.slice(0, index).split("\n").length,
  }));
}
