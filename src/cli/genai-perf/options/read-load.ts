import { showValue } from "../../../plan/show-value.ts";
import { flagOf, LOAD_NAMES, type LoadName, loadOf, type Stimulus } from "../loads.ts";
import { findLoadSweep } from "../points.ts";
import { Asked } from "./asked.ts";
import { givesLoad, loadNameOf, nameOfPassed, type PassedFlag, type PassedFlags } from "./passed-flags.ts";
import type { LastFlag, ValueSource, ValuesBuilder } from "./values-builder.ts";

/** Reads the load from flags, files, and perf_analyzer's flags after `--`. */

const LOAD = "perf_analyzer.stimulus";

/** Loads in GenAI-Perf's order of precedence: the first given one is used. */
const BY_PRECEDENCE = [...LOAD_NAMES].sort((a, b) => Number(loadOf(b).holdsSessions) - Number(loadOf(a).holdsSessions));

/** Reads the load from the flags. */
export function readLoad(builder: ValuesBuilder, last: LastFlag): void {
  for (const kind of BY_PRECEDENCE) {
    const found = last(flagOf(kind));
    if (found === undefined) continue;
    const { from } = found;
    const text = String(found.value ?? "true").toLowerCase();
    if (loadOf(kind).number === undefined) {
      if (["true", "1", "yes"].includes(text)) builder.store(LOAD, { kind }, from);
      else if (!["false", "0", "no"].includes(text))
        builder.fail(from.place, "must be true or false", text, `Write ${flagOf(kind)} alone.`);
    } else if (Number(text) > 0) builder.store(LOAD, { kind, value: Number(text) }, from);
    else builder.fail(from.place, `the load must be above 0`, String(found.value), "Leave it out, or give more.");
    return;
  }
}

/** Reads the load from a file: its name and number. */
export function readStimulus(builder: ValuesBuilder, kind: LoadName, value: unknown, from: ValueSource): void {
  const { number } = loadOf(kind);
  const isGood = number === "whole" ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (number === undefined) builder.store(LOAD, { kind }, from);
  else if (isGood && (value as number) > 0) builder.store(LOAD, { kind, value: value as number }, from);
  else
    builder.fail(from.place, `User Config: ${kind} must be a number above 0`, showValue(value), `Write {${kind}: 1}.`);
}

/**
 * Reads the flags after `--`, and the load among them if it is the only one or of the same kind as an earlier one: it then determines
 * folder, files and rules. Keeps all other flags, including conflicting loads, which perf_analyzer's rules report.
 */
export function readPassed(builder: ValuesBuilder, passed: PassedFlags): void {
  const asked = new Asked(builder);
  const loads = passed.given.filter(givesLoad);
  const last = loads.at(-1);
  builder.passed = passed;
  if (last === undefined || passed.problems.length > 0) return;
  const name = nameOfPassed(last);
  const isSwept = asked.subcommand === "analyze" || asked.given.has("analyze");
  const swept = isSwept ? findLoadSweep(asked.get("analyze"))?.type : undefined;
  if (swept !== undefined) {
    const message = `${name} after -- and a sweep of ${swept} are both a load`;
    builder.fail(name, message, last.value, "Leave out one of them.");
    return;
  }
  const stimulus = toStimulus(last);
  const isOfOneKind = loads.every((load) => nameOfPassed(load) === name);
  const isFree = !isLoadChosen(asked) || asked.get(LOAD).kind === stimulus?.kind;
  // perf_analyzer's parser rejects 0.
  if (stimulus === undefined || !isOfOneKind || !isFree || Number(last.value ?? 1) <= 0) return;
  const isFloat = loadOf(stimulus.kind).number === "decimal";
  builder.store(LOAD, stimulus, { place: last.typed, source: "flag", isFloat });
  builder.passed = { ...passed, given: passed.given.filter((flag) => !givesLoad(flag)) };
}

const NUMBERS = { whole: /^\d+$/, decimal: /^\d+(?:\.\d+)?$/ };

/** Returns the load of a flag after `--` if it has a plain number; undefined if genai-perf lacks such a load. */
function toStimulus(flag: PassedFlag): Stimulus | undefined {
  const kind = loadNameOf(flag);
  if (kind === undefined) return undefined;
  const { number } = loadOf(kind);
  if (number === undefined) return { kind };
  const { value = "" } = flag;
  return NUMBERS[number].test(value) ? { kind, value: Number(value) } : undefined;
}

/** Reports whether the user chose the load. */
export function isLoadChosen(asked: Asked): boolean {
  return asked.isChosen(LOAD);
}
