import type { Problem } from "../../../plan/problem.ts";
import { isDefault } from "../options/defaults.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";

/** The settings under check, and what is wrong with them. */
export class RuleSet {
  readonly problems: Problem[] = [];
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;

  constructor(settings: GenaiSettings, given: GivenSettings) {
    this.settings = settings;
    this.given = given;
  }

  /** Whether somebody asked for something else than the default: a file may repeat defaults, as templates do. */
  isChosen(at: SettingPath): boolean {
    const from = this.given.get(at);
    if (from === undefined) return false;
    return from.source === "flag" || !isDefault(this.settings, at);
  }

  /** Tells a problem when a rule is broken. @param flag names the setting when nobody gave it */
  refuse(isBroken: boolean, at: SettingPath, flag: string, message: string, hint: string): void {
    if (isBroken) this.problems.push({ path: this.given.get(at)?.place ?? flag, message, hint });
  }
}
