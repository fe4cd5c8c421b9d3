import { valueAt } from "../../options/place.ts";
import { DEFAULT_OF } from "./defaults.ts";
import type { GenaiSettings, SettingPath } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";

/** What a command asks for: the values of its options, and which of them it gives. The parser makes it, and `plan/` makes the plan of it. */
export class Asked {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;

  constructor({ settings, given }: Pick<Asked, "settings" | "given">) {
    this.settings = settings;
    this.given = given;
  }

  /** Returns the same with other values. */
  with(values: Partial<GenaiSettings>): Asked {
    return new Asked({ settings: { ...this.settings, ...values }, given: this.given });
  }

  /** Reports whether a setting has its default value. */
  isDefault(at: SettingPath): boolean {
    return JSON.stringify(valueAt(this.settings, at)) === JSON.stringify(DEFAULT_OF.get(at));
  }

  /** Reports whether the command chooses a value. A file can repeat defaults, like templates do. */
  isChosen(at: SettingPath): boolean {
    return this.given.get(at)?.source === "flag" || !this.isDefault(at);
  }
}
