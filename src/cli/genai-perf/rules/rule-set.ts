import type { Problem } from "../../../plan/problem.ts";
import { isDefault } from "../options/defaults.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { nameOf } from "../options/subcommands.ts";

/** The settings under check, and what is wrong with them. */
export class RuleSet {
  readonly problems: Problem[] = [];
  /** Settings without an effect, in whole sentences. */
  readonly warnings: string[] = [];
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;

  constructor(settings: GenaiSettings, given: GivenSettings) {
    this.settings = settings;
    this.given = given;
  }

  /** Whether somebody asked for something else than the default: a file may repeat defaults, as templates do. */
  isChosen(at: SettingPath): boolean {
    const from = this.given.get(at);
    return from !== undefined && (from.source === "flag" || !isDefault(this.settings, at));
  }

  /** What the user typed for a setting, or its place in the file; the flag's name when nobody gave it. */
  placeOf(at: SettingPath): string {
    return this.given.get(at)?.place ?? nameOf(at);
  }

  /** Reports a problem with a setting when a rule is broken. */
  refuse(isBroken: boolean, at: SettingPath, message: string, hint: string): void {
    if (isBroken) this.problems.push({ path: this.placeOf(at), message, hint });
  }

  /** Reports a setting that has no meaning without another one. @param needed the flag to add */
  require(at: SettingPath, isThere: boolean, needed: string): void {
    const message = `${nameOf(at)} needs ${needed}`;
    this.refuse(this.isChosen(at) && !isThere, at, message, `Add ${needed}, or leave it out.`);
  }

  /** Warns of a setting from a flag that has no effect. @param why what follows "has no effect" */
  warnOfFlag(at: SettingPath, why: string, name: string = nameOf(at)): void {
    if (this.given.get(at)?.source === "flag") this.warnings.push(`${name} has no effect ${why}.`);
  }
}
