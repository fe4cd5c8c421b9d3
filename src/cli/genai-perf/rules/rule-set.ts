import { type Problem, problem } from "../../../plan/problem.ts";
import { Asked, type ValueName } from "../options/asked.ts";
import { nameOf } from "../options/subcommands.ts";

/** The checked values, and their problems. */
export class RuleSet extends Asked {
  readonly problems: Problem[] = [];
  /** Whole sentences about options without effect. */
  readonly warnings: string[] = [];

  /** Returns the option as the user typed it, or its position in the file; the flag's name if it is not given. */
  placeOf(of: ValueName): string {
    return this.given.get(of)?.place ?? nameOf(of);
  }

  /** Reports a problem with an option if a rule is broken. */
  refuse(isBroken: boolean, of: ValueName, message: string, hint: string): void {
    if (isBroken) this.problems.push(problem("conflict", this.placeOf(of), message, hint));
  }

  /** Reports an option that requires another one. @param needed the flag to add */
  require(of: ValueName, isThere: boolean, needed: string): void {
    const message = `${nameOf(of)} needs ${needed}`;
    this.refuse(this.isChosen(of) && !isThere, of, message, `Add ${needed}, or leave it out.`);
  }

  /** Warns about a flag that has no effect. @param why text after "has no effect" */
  warnOfFlag(of: ValueName, why: string, name: string = nameOf(of)): void {
    if (this.given.get(of)?.source === "flag") this.warnings.push(`${name} has no effect ${why}.`);
  }
}
