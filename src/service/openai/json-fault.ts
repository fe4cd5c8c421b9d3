/** Finds where a text stops being JSON, because runtimes' messages from `JSON.parse` differ. */

const TOKEN =
  /\s*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\.)*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/uy;

/** What may come next. */
type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "more";

/** Returns the offset of the first invalid token, or of the end when something is missing. */
export function findJsonFault(text: string): number {
  const open: string[] = [];
  let expected: Expected = "value";
  TOKEN.lastIndex = 0;
  while (!(expected === "more" && open.length === 0)) {
    const start = skipBlanks(text, TOKEN.lastIndex);
    const [matched, mark, string] = TOKEN.exec(text) ?? [];
    const next: Expected | undefined =
      matched === undefined ? undefined : follow(expected, mark, string !== undefined, open);
    if (next === undefined) return start;
    expected = next;
  }
  return skipBlanks(text, TOKEN.lastIndex);
}

/** Returns what may follow a token; undefined when the token itself is not allowed. Updates the stack of open brackets. */
function follow(expected: Expected, mark: string | undefined, isString: boolean, open: string[]): Expected | undefined {
  const inner = open.at(-1);
  const isEnd = (mark === "}" && inner === "{") || (mark === "]" && inner === "[");
  if (isEnd && (expected === "more" || expected.endsWith("or end"))) {
    open.pop();
    return "more";
  }
  if (expected === "colon") return mark === ":" ? "value" : undefined;
  if (expected === "more") return mark !== "," ? undefined : inner === "{" ? "key" : "value";
  if (expected.startsWith("key")) return isString ? "colon" : undefined;
  if (mark === undefined) return "more";
  if (mark !== "{" && mark !== "[") return undefined;
  open.push(mark);
  return mark === "{" ? "key or end" : "value or end";
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] as string)) at++;
  return at;
}
