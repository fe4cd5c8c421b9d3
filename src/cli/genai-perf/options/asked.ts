import { valueAt } from "../../options/place.ts";
import type { PlanValues } from "../../options/shared-option.ts";
import { DEFAULT_OF } from "./defaults.ts";
import type { GenaiSettings, SettingPath } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";

/** What a command asks for: the values of its options, and which of them it gives. The parser makes it, and `plan/` makes the plan of it. */
export class Asked {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  /** What its plans have besides, whatever the options say. */
  readonly planValues: PlanValues;

  constructor({ settings, given, planValues = new Map() }: Pick<Asked, "settings" | "given"> & Partial<Asked>) {
    this.settings = settings;
    this.given = given;
    this.planValues = planValues;
  }

  /** Returns the same with other values. */
  with(values: Partial<GenaiSettings>): Asked {
    return new Asked({ ...this, settings: { ...this.settings, ...values } });
  }

  /** Returns the same with values in its plans. */
  withPlanValues(planValues: PlanValues): Asked {
    return new Asked({ ...this, planValues });
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
