import { showValue } from "../../../plan/show-value.ts";
import { flagOf, LOAD_NAMES, type LoadName, loadOf } from "../loads.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";

/** Reads the load from flags and files. */

/** Returns the last occurrence of a flag by its first name; undefined when it is not given. */
export type LastFlag = (
  name: string,
) => { readonly value: string | number | undefined; readonly from: GivenSetting } | undefined;

/** Loads in GenAI-Perf's order of precedence: the first given one is used. */
const BY_PRECEDENCE = [...LOAD_NAMES].sort(
  (a, b) => Number(loadOf(b).holdsSessions === true) - Number(loadOf(a).holdsSessions === true),
);

/** Reads the load from the flags. */
export function readLoad(builder: SettingsBuilder, last: LastFlag): void {
  for (const kind of BY_PRECEDENCE) {
    const found = last(flagOf(kind));
    if (found === undefined) continue;
    const { from } = found;
    const text = String(found.value ?? "true").toLowerCase();
    if (loadOf(kind).number === undefined) {
      if (["true", "1", "yes"].includes(text)) builder.store("perfAnalyzer.stimulus", { kind }, from);
      else if (!["false", "0", "no"].includes(text))
        builder.fail(from.place, "must be true or false", text, `Write ${flagOf(kind)} alone.`);
    } else if (Number(text) > 0) builder.store("perfAnalyzer.stimulus", { kind, value: Number(text) }, from);
    else builder.fail(from.place, `the load must be above 0`, String(found.value), "Leave it out, or give more.");
    return;
  }
}

/** Reads the load from a file: its name and number. */
export function readStimulus(builder: SettingsBuilder, kind: LoadName, value: unknown, from: GivenSetting): void {
  const { number } = loadOf(kind);
  const isGood = number === "whole" ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (number === undefined) builder.store("perfAnalyzer.stimulus", { kind }, from);
  else if (isGood && (value as number) > 0)
    builder.store("perfAnalyzer.stimulus", { kind, value: value as number }, from);
  else
    builder.fail(from.place, `User Config: ${kind} must be a number above 0`, showValue(value), `Write {${kind}: 1}.`);
}
