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
    const [matched, sign, string] = TOKEN.exec(text) ?? [];
    const next: Expected | undefined =
      matched === undefined ? undefined : follow(expected, sign, string !== undefined, open);
    if (next === undefined) return start;
    expected = next;
  }
  return skipBlanks(text, TOKEN.lastIndex);
}

/** Returns what may follow a token; undefined when the token itself is not allowed. Updates the stack of open brackets. */
function follow(expected: Expected, sign: string | undefined, isString: boolean, open: string[]): Expected | undefined {
  const inner = open.at(-1);
  const isEnd = (sign === "}" && inner === "{") || (sign === "]" && inner === "[");
  if (isEnd && (expected === "more" || expected.endsWith("or end"))) {
    open.pop();
    return "more";
  }
  if (expected === "colon") return sign === ":" ? "value" : undefined;
  if (expected === "more") return sign !== "," ? undefined : inner === "{" ? "key" : "value";
  if (expected.startsWith("key")) return isString ? "colon" : undefined;
  if (sign === undefined) return "more";
  if (sign !== "{" && sign !== "[") return undefined;
  open.push(sign);
  return sign === "{" ? "key or end" : "value or end";
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] as string)) at++;
  return at;
}
