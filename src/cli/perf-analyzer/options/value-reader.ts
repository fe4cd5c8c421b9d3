import type { Problem } from "../../../plan/problem.ts";

/** What was found while values were read. */
export class Findings {
  readonly problems: Problem[] = [];
  /** Values that were read otherwise than written. */
  readonly warnings: string[] = [];
  /** Whole lines for stderr, in the original's words: deprecated options, and values that are replaced. */
  readonly lines: string[] = [];
}

/**
 * One option's value, and where what is wrong with it is reported. Numbers are read as perf_analyzer reads them: C's number parsing takes
 * the beginning of the text and ignores the rest.
 */
export class ValueReader {
  readonly text: string;
  readonly findings: Findings;
  readonly name: string;
  private readonly label: string;
  /** Undefined for a switch. */
  private readonly value: string | undefined;

  /** @param value undefined for a switch */
  constructor(
    option: { readonly names: readonly [string, ...string[]]; readonly label?: string },
    value: string | undefined,
    findings: Findings,
  ) {
    const [name, short] = option.names;
    this.name = name;
    this.label = option.label ?? (short === undefined ? name : `${name} (${short})`);
    this.text = value ?? "";
    this.value = value;
    this.findings = findings;
  }

  /** Reports a value that breaks a rule, in the original's words. */
  fail(rule: string, hint: string, value = this.value): void {
    this.refuse(`Failed to parse ${this.label}. ${rule}`, hint, value);
  }

  /** Reports a problem in words of its own. */
  refuse(message: string, hint: string, value = this.value): void {
    this.findings.problems.push({ path: this.name, message, hint, ...(value === undefined ? {} : { value }) });
  }

  deprecate(successor: string): void {
    this.findings.lines.push(
      `Warning: ${this.name} is deprecated and will be removed in an upcoming version. Use ${successor} instead.`,
    );
  }

  /** A whole number from the text's beginning; undefined (and a problem) when there is none. */
  integer(text = this.text): number | undefined {
    return this.number(text, Number.parseInt(text, 10), "a whole number");
  }

  /** A decimal number from the text's beginning. */
  decimal(text = this.text): number | undefined {
    return this.number(text, Number.parseFloat(text), "a number");
  }

  private number(text: string, value: number, what: string): number | undefined {
    if (Number.isNaN(value)) {
      this.fail(`Invalid value provided: ${text}`, `Give ${what}.`, text);
      return undefined;
    }
    if (!Number.isSafeInteger(Math.trunc(value))) {
      this.fail("The value is out of range.", "Give a smaller number.", text);
      return undefined;
    }
    if (Number(text) !== value) this.findings.warnings.push(`${this.name} ${text} is read as ${value}.`);
    return value;
  }
}
