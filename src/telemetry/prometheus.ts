/** Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */

/** One line of it. */
export interface PrometheusSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite. */
  readonly value: number;
}

/**
 * Reads the samples whose names are wanted; what else is in the text costs little. Lines that are none are passed over.
 * @param isWanted whether a family's samples are read
 */
export function parsePrometheus(text: string, isWanted: (name: string) => boolean): PrometheusSample[] {
  const samples: PrometheusSample[] = [];
  for (let start = 0; start < text.length; ) {
    const lineEnd = text.indexOf("\n", start);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const sample = parseLine(text.slice(start, end).trim(), isWanted);
    if (sample !== undefined) samples.push(sample);
    start = end + 1;
  }
  return samples;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;

function parseLine(line: string, isWanted: (name: string) => boolean): PrometheusSample | undefined {
  const series = parseSeries(line, isWanted);
  if (series === undefined) return undefined;
  const value = parseSampleValue(line.slice(series.headLength));
  return value === undefined ? undefined : { name: series.name, labels: series.labels, value };
}

/** What stands ahead of a sample's value. */
export interface PrometheusSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Characters of the line up to the value, spaces included. */
  readonly headLength: number;
}

/** Reads a line as far as its value; undefined when it is no sample that is wanted. @param line without space around it */
export function parseSeries(line: string, isWanted: (name: string) => boolean): PrometheusSeries | undefined {
  const name = NAME.exec(line)?.[0];
  if (name === undefined || !isWanted(name)) return undefined;
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

/** A floating-point number as Go writes it; undefined when it is none. @param text what follows a series; a time may stand behind the value */
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
