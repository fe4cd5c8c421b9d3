import fc from "fast-check";

/** JSON that is not what its reader expects: good documents with one part replaced or taken out. */

const DEEP = 100_000;

/** Lists and objects in each other, 100,000 deep. */
export const DEEP_LIST = "[".repeat(DEEP) + "]".repeat(DEEP);
export const DEEP_OBJECT = `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`;

/** Values that fit few places, as JSON text. */
export const ODD_VALUES: readonly string[] = [
  ..."null true false 0 -1 1.5 1e15 1e400 -1e308 4294967296 9007199254740993 [] {} [[]] [null] [true] [-2] [1.5] [1e12]".split(
    " ",
  ),
  '""',
  '"x"',
  '"2"',
  '"-1"',
  '"9007199254740993"',
  '"__proto__"',
  '"constructor"',
  '"\\u0000"',
  '"\\ud800"',
  '["2"]',
  '{"a":1}',
  '{"__proto__":1}',
  '[{"name":"__proto__"}]',
  "[".repeat(5000) + "]".repeat(5000),
  `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
];

type Path = readonly (string | number)[];

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value))
    yield* pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]);
}

const MARK = "@@odd@@";

/** The document's text with something else in a place. @param odd JSON text; undefined takes the place out */
export function replaceIn(document: unknown, path: Path, odd: string | undefined): string {
  const change = (value: unknown, [key, ...rest]: Path): unknown => {
    if (key === undefined) return MARK;
    const copy: Record<string | number, unknown> | unknown[] = Array.isArray(value)
      ? [...(value as unknown[])]
      : { ...(value as object) };
    const fields = copy as Record<string | number, unknown>;
    if (rest.length === 0 && odd === undefined) delete fields[key];
    else fields[key] = change(fields[key], rest);
    return copy;
  };
  return JSON.stringify(change(document, path)).replace(`"${MARK}"`, () => odd ?? "null");
}

/** Texts of the document with one odd place, or that are hardly JSON. */
export function oddJson(document: unknown): fc.Arbitrary<string> {
  const odd = fc.option(fc.oneof(fc.constantFrom(...ODD_VALUES), fc.json({ maxDepth: 3 })), { nil: undefined });
  const replaced = fc
    .tuple(fc.constantFrom(...pathsOf(document)), odd)
    .map(([path, value]) => replaceIn(document, path, value));
  const text = JSON.stringify(document);
  const cut = fc.nat({ max: text.length }).map((length) => text.slice(0, length));
  return fc.oneof({ arbitrary: replaced, weight: 12 }, cut, fc.constantFrom(...ODD_VALUES), fc.string());
}
