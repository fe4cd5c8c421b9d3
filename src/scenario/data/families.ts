import * as v from "valibot";
import { defined } from "../../plan/objects.ts";
import { AB_FORM, abOfTargets, abOptionsSchema } from "../definition/ab.ts";
import { PER_TARGET_FORM, perTarget } from "../definition/per-target.ts";
import type { DataForm } from "../form.ts";
import { inputForms } from "../inputs.ts";
import { loadForms } from "../loads/table.ts";
import { optionsSchema, PARAMETER_KINDS } from "../params/kinds.ts";
import { targetForms } from "../targets/table.ts";

/** The builders that a scenario in YAML or JSON can use. Everything here is derived from the tables of the builders. */

/** A builder. */
export interface Entry {
  readonly form: DataForm;
  /** Schema of its options object. Absent: no options. */
  readonly options?: v.GenericSchema | undefined;
  /** Schema of its arguments, a list or a tuple. Absent: no arguments, or other builders make them. */
  readonly values?: v.GenericSchema | undefined;
  /** Calls its function and returns the result. @param values the arguments */
  make(values: readonly unknown[], options: object): object;
}

/** A family of builders that make the same kind of object. */
export interface Family {
  /** Name of what they make, for errors: `a target`. */
  readonly noun: string;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Names of the builders that are available only in code. */
  readonly codeOnly: readonly string[];
}

/** Members of the schema of a target. */
interface Shape {
  readonly entries: { readonly options?: v.GenericSchema; readonly url?: v.GenericSchema };
}

function family(noun: string, all: readonly Entry[]): Family {
  const entries = all.filter(({ form }) => form.isCodeOnly !== true);
  return {
    noun,
    entries: new Map(entries.map((entry) => [entry.form.name, entry])),
    codeOnly: all.filter((entry) => !entries.includes(entry)).map(({ form }) => form.name),
  };
}

/** Targets. */
export function targetFamily(): Family {
  const entries = targetForms().map(([kind, form, schema]): Entry => {
    const { url, options } = (schema as typeof schema & Shape).entries;
    const isMix = form.parts?.["members"] !== undefined;
    return {
      form,
      options,
      values: form.args === undefined || isMix ? undefined : v.array(url as v.GenericSchema),
      make: ([first = "", ...more], given) =>
        isMix
          ? { kind, url: "", options: given, values: more.length === 0 && first === "" ? [] : [first, ...more] }
          : { kind, url: first, ...(more.length === 0 ? {} : { moreUrls: more }), options: given },
    };
  });
  const ab: Entry = { form: AB_FORM, options: abOptionsSchema(), make: abOfTargets };
  return family("a target", [...entries, ab]);
}

/** Loads, and phases of loads. */
export function loadFamily(): Family {
  const entries = loadForms().map(
    ({ kind, form, options, values }): Entry => ({
      form,
      options,
      values,
      make: (numbers, given) => ({ kind, pacing: "closed", values: numbers, options: given }),
    }),
  );
  const perTargets: Entry = {
    form: PER_TARGET_FORM,
    make: ([loads]) => perTarget(loads as Parameters<typeof perTarget>[0]),
  };
  return family("a load", [...entries, perTargets]);
}

/** Inputs. */
export function inputFamily(): Family {
  const entries = inputForms().map(
    ({ kind, form, options, files }): Entry => ({
      form,
      options,
      values: files,
      make: (paths, given) => ({ kind, files: paths, options: given }),
    }),
  );
  return family("inputs", entries);
}

/** Parameters. */
export function parameterFamily(): Family {
  const entries = Object.entries(PARAMETER_KINDS).map(([kind, { form, options, initial, initialSchema }]): Entry => {
    const isList = form.takes === "list";
    return {
      form,
      options: optionsSchema(options.filter((name) => name !== "values")),
      values: isList ? v.array(v.string()) : v.array(initialSchema ?? v.string()),
      make: (values, given) => {
        const first = values[0] ?? initial;
        return {
          kind,
          ...defined({ initial: first }),
          options: isList ? { ...given, values } : given,
        };
      },
    };
  });
  return family("a parameter", entries);
}
