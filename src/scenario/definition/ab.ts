import * as v from "valibot";
import { movePath, UserError, userError } from "../../plan/problem.ts";
import { atLeast, flagSchema, type OutputOf } from "../../plan/schema.ts";
import type { Percent } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, nameSchema, percentSchema, strictOptions } from "../fields.ts";
import type { DataForm } from "../form.ts";
import type { Protocol, ResponseType, Target } from "../targets/target.ts";
import { toProblem } from "./to-problem.ts";

/** Two targets that are measured alternately and compared. */

/** Options of {@link ab}. */
export interface AbOptions {
  /** Number of measurements of each target, 2 or more. They alternate: a, b, b, a, a, b … Default: 5. */
  readonly pairs?: number;
  /** Names of the targets in the report. Default: `["a", "b"]`. */
  readonly names?: readonly [base: string, candidate: string];
  /** Smallest relevant difference: "no difference" is reported only if a larger one is excluded. Default: `"5 %"`. */
  readonly precision?: Percent;
  /** Exit with 65 if a main metric of the second target is worse, and with 66 if one cannot be decided. Default: false. */
  readonly strict?: boolean;
}

const KIND = "ab";

export const AB_FORM: DataForm = {
  name: "ab",
  args: ["base", "candidate"],
  parts: { base: "target", candidate: "target" },
};

/**
 * Measures two targets under the same load, in alternating blocks, and reports which one is better: for each metric the change from the
 * first to the second target, with its 95 % interval. Each block is a complete run of the scenario.
 * @example
 * ab(triton("old:8000", { model: "resnet50" }), triton("new:8000", { model: "resnet50" }), { pairs: 5 })
 */
export function ab<const P extends Protocol, const A extends ResponseType>(
  base: Target<P, A>,
  candidate: Target<P, A>,
  options: AbOptions = {},
): Target<P, A> {
  const call = "ab(base, candidate, options)";
  if (typeof options === "object" && options !== null && "kind" in options)
    throw userError("invalid-value", call, "takes two targets, and this is a third", "Compare it in another scenario.");
  refuseMore(call, arguments);
  return abOfTargets([base, candidate], options) as Target<P, A>;
}

/** Returns the result of {@link ab} for targets whose types were not checked. */
export function abOfTargets(values: readonly unknown[], options: object): Target {
  const target: Target & { readonly values: readonly unknown[] } = { kind: KIND, url: "", options, values };
  return target;
}

/** Index of one of the two targets. */
export type AbSide = 0 | 1;

export function abOptionsSchema() {
  return strictOptions({
    pairs: v.optional(v.pipe(countSchema(), atLeast(2))),
    names: v.optional(
      v.pipe(
        v.tuple([nameSchema("a name"), nameSchema("a name")], "must be two names"),
        v.check(([one, other]) => one !== other, "must be two different names"),
      ),
    ),
    precision: v.optional(percentSchema()),
    strict: v.optional(flagSchema()),
  });
}

function abSchema() {
  return v.object({
    kind: v.literal(KIND),
    url: v.string(),
    options: abOptionsSchema(),
    // Each target is checked like the target of a scenario.
    values: v.tuple([v.unknown(), v.unknown()], "must be two targets"),
  });
}

type AbData = OutputOf<typeof abSchema>;

interface GivenAb {
  readonly kind?: unknown;
  readonly values?: unknown;
}

/** Returns the target of a scenario if it is `ab`. */
function targetOf(definition: unknown): GivenAb | undefined {
  const { target } = (definition ?? {}) as { readonly target?: GivenAb };
  const { kind } = target ?? {};
  return kind === KIND ? target : undefined;
}

/** Whether the target of a scenario is `ab`. */
export function isAb(definition: unknown): boolean {
  return targetOf(definition) !== undefined;
}

/**
 * Returns the options of a scenario whose target is `ab`; undefined for any other target. @throws UserError with all problems of its
 * options
 */
export function abOf(definition: unknown): AbData["options"] | undefined {
  const target = targetOf(definition);
  if (target === undefined) return undefined;
  const parsed = v.safeParse(abSchema(), target);
  if (parsed.success) return parsed.output.options;
  throw new UserError(
    parsed.issues.map((issue) => movePath(toProblem(issue), (path) => `target.${path.replace(/^options\./, "")}`)),
  );
}

/** Returns the definition of a scenario with one of the targets of `ab`. @param side Default: the first one */
export function sideOf(definition: unknown, side: AbSide = 0): unknown {
  const target = targetOf(definition);
  if (!Array.isArray(target?.values)) return definition;
  return { ...(definition as object), target: target.values[side] };
}
