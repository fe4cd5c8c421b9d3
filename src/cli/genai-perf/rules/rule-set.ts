import { type Problem, problem } from "../../../plan/problem.ts";
import { Asked } from "../options/asked.ts";
import type { SettingPath } from "../options/settings.ts";
import { nameOf } from "../options/subcommands.ts";

/** The checked settings, and their problems. */
export class RuleSet extends Asked {
  readonly problems: Problem[] = [];
  /** Whole sentences about settings without effect. */
  readonly warnings: string[] = [];

  /** Returns what the user typed for a setting, or its position in the file; the flag's name if it is not given. */
  placeOf(at: SettingPath): string {
    return this.given.get(at)?.place ?? nameOf(at);
  }

  /** Reports a problem with a setting if a rule is broken. */
  refuse(isBroken: boolean, at: SettingPath, message: string, hint: string): void {
    if (isBroken) this.problems.push(problem("conflict", this.placeOf(at), message, hint));
  }

  /** Reports a setting that requires another one. @param needed the flag to add */
  require(at: SettingPath, isThere: boolean, needed: string): void {
    const message = `${nameOf(at)} needs ${needed}`;
    this.refuse(this.isChosen(at) && !isThere, at, message, `Add ${needed}, or leave it out.`);
  }

  /** Warns of a flag that has no effect. @param why text after "has no effect" */
  warnOfFlag(at: SettingPath, why: string, name: string = nameOf(at)): void {
    if (this.given.get(at)?.source === "flag") this.warnings.push(`${name} has no effect ${why}.`);
  }
}
