import type { Plan } from "../../../plan/plan.ts";
import type { Option } from "../../options/option.ts";
import { hasPlace, putValue, type ValueAt, valueAt, withValue } from "../../options/place.ts";
import { Settings, type ValueReader } from "../settings.ts";

/** An option of perf_analyzer, or one that Rampart adds. */
export interface PerfAnalyzerOption extends Option<Settings, ValueReader> {
  /** Name in messages. Default: its names. */
  readonly label?: string;
  /** Does not apply to requests with payloads. */
  readonly isForTensors?: boolean;
  /** Applies only to requests with messages. */
  readonly isForMessages?: boolean;
  /** Applies only to Triton's library instead of a server. */
  readonly isForLibrary?: boolean;
  /** Path in the Plan of what it sets, as texts about a run name it. */
  readonly setting?: string;
  /** Whether its setting differs from the default. */
  readonly isChanged?: (settings: Settings) => boolean;
  /** Returns names and values that produce a plan like this one; empty if the option's default does. Absent: no plan needs the option. */
  readonly print?: (plan: Plan) => readonly string[];
  /** Sets what a plan has. Absent: no plan has it. */
  readonly take?: (settings: Settings, plan: Plan) => void;
  /** Returns a plan with what this option sets; the same plan if it has no place for that. Absent: no plan has. */
  readonly land?: Land;
}

/** Puts what an option has set into a plan that another front door built. */
export type Land = (plan: Plan, settings: Settings) => Plan;

/** An option without its heading, which the table adds to a whole list. */
export type UngroupedOption = Omit<PerfAnalyzerOption, "group">;

/** A setting and its path: `client.kind`. */
export type Place<T = Settings> = {
  [K in keyof T & string]: NonNullable<T[K]> extends Part ? K | `${K}.${Place<NonNullable<T[K]>>}` : K;
}[keyof T & string];

/** An object with properties, not an array. */
type Part = object & { readonly [Symbol.iterator]?: never };

/** An option that sets one setting. */
export interface Entry<V> extends Omit<UngroupedOption, "read" | "print" | "isChanged"> {
  /** Reads a value. Undefined leaves the setting unchanged. @param before current value of the setting, to which some options add */
  readonly parse: (reader: ValueReader, before: V, settings: Settings) => V | undefined;
  /** The setting's value in a plan; undefined if the option cannot express it. Default: the value at the same path in the plan. */
  readonly of?: (plan: Plan) => V | undefined;
  /**
   * Formats a value as a user types it; several values for a repeatable option. For a switch, how often. Default: JavaScript's `String`.
   */
  readonly format?: (value: NonNullable<V>) => string | readonly string[];
}

const INITIAL = new Settings();

/**
 * Creates an option from a setting and how it is read and written. Its default in help, and its conversion to and from a plan, follow from
 * these.
 * @param at path of the setting; where a plan has the same path, the setting lands there unless `land` says otherwise
 */
export function option<P extends Place>(at: P, entry: Entry<ValueAt<P, Settings>>): UngroupedOption {
  type V = ValueAt<P, Settings>;
  const { parse, of = (plan) => valueAt(plan, at) as V, format = formatPlainly, ...rest } = entry;
  const value = entry.value ?? entry.choices?.join("|");
  const words = (one: V | undefined): readonly string[] =>
    one === null || one === undefined ? [] : [format(one)].flat();
  const initial = words(valueAt(INITIAL, at) as V);
  const isInitial = (one: readonly string[]): boolean => one.join("\0") === initial.join("\0");
  const defaultText = entry.defaultText ?? (value === undefined ? "" : initial.join());
  const [name] = entry.names;
  return {
    setting: at,
    ...rest,
    ...(value === undefined ? {} : { value }),
    ...(defaultText === "" ? {} : { defaultText }),
    read: (settings, _text, reader) => {
      const read = parse(reader, valueAt(settings, at) as V, settings);
      if (read !== undefined) putValue(settings, at, read);
    },
    isChanged: (settings) => !isInitial(words(valueAt(settings, at) as V)),
    print: (plan) => {
      const printed = words(of(plan));
      if (isInitial(printed)) return [];
      if (value !== undefined) return printed.flatMap((word) => [name, word]);
      const times = printed[0] === "true" ? 1 : Number(printed[0]);
      return Array.from({ length: times }, () => name);
    },
    take: (settings, plan) => {
      const taken = of(plan);
      if (taken !== undefined) putValue(settings, at, taken);
    },
    land: entry.land ?? ((plan, settings) => (hasPlace(plan, at) ? withValue(plan, at, valueAt(settings, at)) : plan)),
  };
}

function formatPlainly(value: unknown): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}
