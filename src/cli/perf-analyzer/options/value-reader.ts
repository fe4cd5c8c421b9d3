import { type Problem, problem } from "../../../plan/problem.ts";

/** Problems and warnings found while values are read. */
export class Findings {
  readonly problems: Problem[] = [];
  /** Values that were changed when read. */
  readonly warnings: string[] = [];
  /** Whole lines for stderr, in perf_analyzer's words: deprecated options, and values that are replaced. */
  readonly lines: string[] = [];
}

/**
 * One option's value, with methods to report problems. Numbers are parsed like in perf_analyzer, by C's rules: the longest valid prefix
 * counts, and the rest of the text is ignored.
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

  /** Whether the option is a switch that no word follows. */
  get isAlone(): boolean {
    return this.value === undefined;
  }

  /** Reports a value that breaks a rule, in perf_analyzer's words. */
  fail(rule: string, hint: string, value = this.value): void {
    this.refuse(`Failed to parse ${this.label}. ${rule}`, hint, value);
  }

  /** Reports a problem in other words. */
  refuse(message: string, hint: string, value = this.value): void {
    this.findings.problems.push(problem("invalid-value", this.name, message, hint, value));
  }

  deprecate(successor: string): void {
    this.findings.lines.push(
      `Warning: ${this.name} is deprecated and will be removed in an upcoming version. Use ${successor} instead.`,
    );
  }

  /** Parses an integer prefix of the text; undefined (and a problem) when there is none. */
  integer(text = this.text): number | undefined {
    return this.number(text, Number.parseInt(text, 10), "a whole number");
  }

  /** Parses a decimal prefix of the text. */
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
