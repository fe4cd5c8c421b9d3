import type { Problem } from "../../plan/problem.ts";

/** Values as perf_analyzer reads them: C's number parsing takes the beginning of the text and ignores the rest. */

/** Collects what is wrong with values, and what was read otherwise than written. */
export class ValueReader {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];
  /** Whole lines for stderr, in the original's words: successors of flags, and values that are replaced. */
  readonly lines: string[] = [];

  deprecate(flag: string, successor: string): void {
    this.lines.push(
      `Warning: ${flag} is deprecated and will be removed in an upcoming version. Use ${successor} instead.`,
    );
  }

  fail(flag: string, message: string, value: string | undefined, hint: string): void {
    this.problems.push({ path: flag, message, hint, ...(value === undefined ? {} : { value }) });
  }

  /** A whole number from the text's beginning; undefined (and a problem) when there is none. */
  integer(flag: string, label: string, text: string): number | undefined {
    return this.read(flag, label, text, Number.parseInt(text, 10), "a whole number");
  }

  /** A decimal number from the text's beginning. */
  decimal(flag: string, label: string, text: string): number | undefined {
    return this.read(flag, label, text, Number.parseFloat(text), "a number");
  }

  private read(flag: string, label: string, text: string, value: number, what: string): number | undefined {
    if (Number.isNaN(value)) {
      this.fail(flag, `Failed to parse ${label}. Invalid value provided: ${text}`, text, `Give ${what}.`);
      return undefined;
    }
    if (!Number.isSafeInteger(Math.trunc(value))) {
      this.fail(flag, `Failed to parse ${label}. The value is out of range.`, text, "Give a smaller number.");
      return undefined;
    }
    if (Number(text) !== value) this.warnings.push(`${flag} ${text} is read as ${value}.`);
    return value;
  }
}

/** A `start:end:step` triple; parts not given are undefined. */
export interface RangeValue {
  readonly start: number;
  readonly end: number | undefined;
  readonly step: number | undefined;
}

/** Reads a range of whole or decimal numbers. */
export function readRange(
  reader: ValueReader,
  flag: string,
  text: string,
  kind: "integer" | "decimal",
): RangeValue | undefined {
  const parts = text.split(":");
  if (parts.length > 3) {
    reader.fail(
      flag,
      `Failed to parse ${flag}. The value does not match <start:end:step>.`,
      text,
      `Write for example ${flag} 1:8:2.`,
    );
    return undefined;
  }
  const numbers: number[] = [];
  for (const part of parts) {
    const number = reader[kind](flag, flag, part);
    if (number !== undefined) numbers.push(number);
  }
  if (numbers.length < parts.length) return undefined;
  return { start: numbers[0] as number, end: numbers[1], step: numbers[2] };
}
