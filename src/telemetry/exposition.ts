/** The type of a family's samples, as the server declares it; `unknown` without a declaration. */
export type FamilyKind = "gauge" | "counter" | "histogram" | "summary" | "unknown";

/** A metric family. */
export interface Family {
  readonly name: string;
  kind: FamilyKind;
  help: string;
}

/** Identity of a series. The object is the same in every scrape. */
export interface SampleKey {
  readonly family: Family;
  /** Name, with a histogram's suffix: `…_bucket`, `…_sum`, `…_count`. */
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

interface Line {
  /** The whole line, for a comment; the part before the value, for a sample. */
  readonly head: string;
  readonly key: SampleKey | undefined;
}

/** Maximum number of series and families to remember, for servers whose series change with every scrape. */
const MOST_KNOWN = 50_000;

const KINDS: ReadonlySet<string> = new Set(["gauge", "counter", "histogram", "summary"]);
const SUFFIX = /_(?:bucket|sum|count)$/;
/** OpenMetrics declares a counter without this suffix. */
const TOTAL = /_total$/;

/**
 * Parses one server's metrics repeatedly, in Prometheus' text format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
 * Between scrapes, usually only the values change, so each line is compared with the line at the same position in the previous scrape. This
 * takes the measuring thread little time.
 */
export class Exposition {
  private readonly families = new Map<string, Family>();
  private readonly keys = new Map<string, Line>();
  private readonly lines: Line[] = [];

  /** Parses a text and calls back for each sample, including NaN and infinite values. Skips invalid lines. */
  read(text: string, onSample: (key: SampleKey, value: number) => void): void {
    let index = 0;
    for (let start = 0; start < text.length; index++) {
      const lineEnd = text.indexOf("\n", start);
      const end = lineEnd < 0 ? text.length : lineEnd;
      const line = this.lineAt(index, text, start, end);
      if (line.key !== undefined) {
        const value = readValue(text.slice(start + line.head.length, end));
        if (value !== undefined) onSample(line.key, value);
      }
      start = end + 1;
    }
  }

  private lineAt(index: number, text: string, start: number, end: number): Line {
    const known = this.lines[index];
    if (known !== undefined && text.startsWith(known.head, start)) {
      // A comment must match completely; a sample only up to its value.
      if (known.key !== undefined || start + known.head.length === end) return known;
    }
    const line = this.parse(text.slice(start, end));
    this.lines[index] = line;
    return line;
  }

  private parse(line: string): Line {
    const series = line.startsWith(" ") ? undefined : parseSeries(line);
    if (series === undefined || readValue(line.slice(series.headLength)) === undefined) {
      if (line.startsWith("#")) this.readDeclaration(line);
      return { head: line, key: undefined };
    }
    const head = line.slice(0, series.headLength);
    const known = this.keys.get(head);
    if (known !== undefined) return known;
    const key = { family: this.familyOf(series.name), name: series.name, labels: series.labels };
    const made = { head, key };
    if (this.keys.size < MOST_KNOWN) this.keys.set(head, made);
    return made;
  }

  /** Reads `# TYPE name kind` and `# HELP name text`. */
  private readDeclaration(line: string): void {
    const [, what, name = "", rest = ""] = /^#\s*(TYPE|HELP)\s+(\S+)\s*(.*)$/.exec(line.trimEnd()) ?? [];
    if (what === undefined) return;
    const family = this.family(name);
    if (what === "HELP") family.help = unescapeText(rest);
    else if (KINDS.has(rest)) family.kind = rest as FamilyKind;
  }

  /** Returns the declared family of a series. Parts of a histogram and `_total` counters belong to the family without suffix. */
  private familyOf(name: string): Family {
    const counter = this.families.get(name.replace(TOTAL, ""));
    if (counter?.kind === "counter") return counter;
    const base = name.replace(SUFFIX, "");
    const declared = base === name ? undefined : this.families.get(base);
    return declared?.kind === "histogram" || declared?.kind === "summary" ? declared : this.family(name);
  }

  private family(name: string): Family {
    let family = this.families.get(name);
    if (family === undefined) {
      family = { name, kind: "unknown", help: "" };
      if (this.families.size < MOST_KNOWN) this.families.set(name, family);
    }
    return family;
  }
}

/** Parses a value. Most values are plain numbers. */
function readValue(text: string): number | undefined {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isNaN(value) || text.startsWith("0x") ? parseSampleValue(text) : value;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;

/** The part of a sample before its value. */
interface PrometheusSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Length of the line before the value, including spaces. */
  readonly headLength: number;
}

/** Parses a line up to its value. Returns undefined if it is not a sample. @param line without leading whitespace */
function parseSeries(line: string): PrometheusSeries | undefined {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return undefined;
  const labels = new Map<string, string>();
  let rest = line.slice(name.length).trimStart();
  if (rest.startsWith("{")) {
    LABEL.lastIndex = 1;
    let end = 1;
    for (let label = LABEL.exec(rest); label !== null; label = LABEL.exec(rest)) {
      labels.set(label[1] as string, unescapeText(label[2] as string));
      end = LABEL.lastIndex;
    }
    rest = rest.slice(end).trimStart();
    if (!rest.startsWith("}")) return undefined;
    rest = rest.slice(1);
  }
  return { name, labels, headLength: line.length - rest.trimStart().length };
}

function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

/** Parses a number in Go's format; undefined if it is not valid. @param text the value, with an optional timestamp */
function parseSampleValue(text: string): number | undefined {
  const number = text.trimStart().split(/\s/, 1)[0] ?? "";
  const special = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(number);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return Number.NaN;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(number) ? Number(number) : undefined;
}
