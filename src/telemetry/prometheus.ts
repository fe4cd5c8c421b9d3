/** Lines of Prometheus' text format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;

/** The part of a sample before its value. */
export interface PrometheusSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Length of the line before the value, including spaces. */
  readonly headLength: number;
}

/** Parses a line up to its value. Returns undefined when it is not a sample. @param line without whitespace before it */
export function parseSeries(line: string): PrometheusSeries | undefined {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return undefined;
  const labels = new Map<string, string>();
  let rest = line.slice(name.length).trimStart();
  if (rest.startsWith("{")) {
    LABEL.lastIndex = 1;
    let end = 1;
    for (let label = LABEL.exec(rest); label !== null; label = LABEL.exec(rest)) {
      labels.set(label[1] as string, unescapeLabel(label[2] as string));
      end = LABEL.lastIndex;
    }
    rest = rest.slice(end).trimStart();
    if (!rest.startsWith("}")) return undefined;
    rest = rest.slice(1);
  }
  return { name, labels, headLength: line.length - rest.trimStart().length };
}

function unescapeLabel(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

/**
 * Parses a floating-point number in Go's format; returns undefined when it is not one.
 * @param text the value, with an optional timestamp
 */
export function parseSampleValue(text: string): number | undefined {
  const number = text.trimStart().split(/\s/, 1)[0] ?? "";
  return parseNumber(number);
}

function parseNumber(text: string): number | undefined {
  const special = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return Number.NaN;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}
