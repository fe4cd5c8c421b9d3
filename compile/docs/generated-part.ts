/** Parts of guides that programs write: from a comment such as `<!-- generated: NAME -->` to the next `<!-- end -->`. */

const END = "<!-- end -->";

/** The guide with another part of this name. Throws when it has no such part. */
export function replacePart(guide: string, name: string, part: string): string {
  return replaceBetween(guide, `<!-- generated: ${name} -->`, part);
}

/** The guide with another part after this comment. Throws when it has no such part. */
export function replaceBetween(guide: string, begin: string, part: string): string {
  const from = guide.indexOf(begin);
  const to = guide.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`the guide has no lines ${begin} and ${END}`);
  return `${guide.slice(0, from + begin.length)}\n\n${part.trim()}\n\n${guide.slice(to)}`;
}
