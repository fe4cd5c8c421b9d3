import { showValue } from "../../../plan/show-value.ts";
import type { Stimulus } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";
import { isNumberFrom } from "./value-kinds.ts";

/** Reads the load from flags and files. */

type NumberedLoad = Exclude<Stimulus["kind"], "fixed_schedule">;

/** Loads with a number, in GenAI-Perf's order of precedence: the first given one is used. */
const LOADS: Readonly<Record<NumberedLoad, (value: number) => Stimulus>> = {
  session_concurrency: (sessions) => ({ kind: "session_concurrency", sessions }),
  concurrency: (requests) => ({ kind: "concurrency", requests }),
  request_rate: (ratePerSec) => ({ kind: "request_rate", ratePerSec }),
};

/** Returns the last occurrence of a flag by its first name; undefined when it is not given. */
export type LastFlag = (
  name: string,
) => { readonly value: string | number | undefined; readonly from: GivenSetting } | undefined;

/** Reads the load from the flags. */
export function readLoad(builder: SettingsBuilder, last: LastFlag): void {
  for (const [kind, make] of Object.entries(LOADS)) {
    const found = last(`--${kind.replace("_", "-")}`);
    if (found === undefined) continue;
    const value = Number(found.value);
    if (value <= 0)
      builder.fail(
        found.from.place,
        `the load must be above 0`,
        String(found.value),
        "Give a number above 0, or leave it out.",
      );
    else builder.store("perfAnalyzer.stimulus", make(value), found.from);
    return;
  }
  const schedule = last("--fixed-schedule");
  if (schedule === undefined) return;
  const text = String(schedule.value ?? "true").toLowerCase();
  if (["true", "1", "yes"].includes(text))
    builder.store("perfAnalyzer.stimulus", { kind: "fixed_schedule" }, schedule.from);
  else if (!["false", "0", "no"].includes(text))
    builder.fail(schedule.from.place, "must be true or false", text, "Write --fixed-schedule alone.");
}

/** Reads the load from a file: its name and number. */
export function readStimulus(builder: SettingsBuilder, kind: string, value: unknown, from: GivenSetting): void {
  if (kind === "fixed_schedule") {
    builder.store("perfAnalyzer.stimulus", { kind }, from);
    return;
  }
  const isGood = kind === "request_rate" ? isNumberFrom(value, 0) : Number.isSafeInteger(value);
  if (isGood && (value as number) > 0)
    builder.store("perfAnalyzer.stimulus", LOADS[kind as NumberedLoad](value as number), from);
  else
    builder.fail(from.place, `User Config: ${kind} must be a number above 0`, showValue(value), `Write {${kind}: 1}.`);
}
