import * as v from "valibot";
import { TARGET_TAG } from "../../plan/groups/tags.ts";
import { defined } from "../../plan/objects.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { refuseMore } from "../arguments.ts";
import type { DataForm } from "../form.ts";
import { type Load, type LoadKind, type LoadList, type LoadPlace, pacingOf } from "../loads/load.ts";

/** A separate load for each target of a mix. */

const KIND = "per-target";

/** Maximum number of targets: each is a separate run, at the same time as the others. */
const MOST_TARGETS = 100;

export const PER_TARGET_FORM: DataForm = {
  name: "perTarget",
  args: ["loads"],
  takes: "by-name",
  parts: { loads: "loads-by-name" },
};

/**
 * A separate load for each target of `mix([…])`, by the names of the targets. All targets are measured at the same time, each in a separate
 * run: levels begin together, and no load ends before the others have been measured.
 * @example
 * perTarget({ chat: hold(16, { for: "30 s" }), embeddings: rate(50, { for: "30 s" }) })
 */
export function perTarget<const S extends LoadKind, const N extends string>(
  loads: Readonly<Record<N, Load<S, LoadPlace> | LoadList<S>>>,
): Load<S, "alone", N, N> {
  refuseMore("perTarget(loads)", arguments);
  const [first] = Object.values<Load<S, LoadPlace> | LoadList<S>>(loads ?? {}).flat();
  return { kind: KIND, pacing: pacingOf(first), values: [], options: loads };
}

interface Given {
  readonly target?: { readonly values?: unknown };
  readonly load?: { readonly kind?: unknown; readonly options?: unknown };
  readonly tags?: unknown;
  readonly assert?: unknown;
}

interface Member {
  readonly name: string;
  readonly target?: unknown;
  readonly inputs?: unknown;
  readonly weight?: unknown;
  readonly tags?: unknown;
}

/** Returns the loads of a scenario by target; undefined for any other load. */
function loadsOf(definition: unknown): Readonly<Record<string, unknown>> | undefined {
  const { load } = (definition ?? {}) as Given;
  const { kind, options } = load ?? {};
  return kind === KIND && typeof options === "object" ? (options as Readonly<Record<string, unknown>>) : undefined;
}

/** Whether the targets of a scenario have separate loads. */
export function hasLoadsByTarget(definition: unknown): boolean {
  return loadsOf(definition) !== undefined;
}

const memberSchema = v.array(v.looseObject({ name: v.string() }));

function membersOf(definition: unknown): readonly Member[] | undefined {
  const parsed = v.safeParse(memberSchema, (definition as Given).target?.values);
  return parsed.success ? parsed.output : undefined;
}

/** Returns the names of the targets with separate loads; undefined if the targets share one load. @throws UserError with all problems */
export function partNamesOf(definition: unknown): readonly string[] | undefined {
  const loads = loadsOf(definition);
  if (loads === undefined) return undefined;
  const members = membersOf(definition);
  if (members === undefined)
    throw new UserError(
      problem("conflict", "load", "perTarget(…) needs several targets", "Use mix([…]) as the target."),
    );
  const names = members.map(({ name }) => name);
  if (names.length > MOST_TARGETS) {
    const message = `has ${names.length} targets with loads of their own, more than ${MOST_TARGETS}`;
    throw new UserError(problem("invalid-value", "target", message, "Write fewer, or several scenarios."));
  }
  const listed = `The targets are ${[...new Set(names)].join(", ")}.`;
  const isShare = "is a share of a load for all targets, and here each target has a load of its own";
  const problems: Problem[] = [
    ...names.flatMap((name) =>
      Object.hasOwn(loads, name)
        ? []
        : [problem("missing", `load.${name}`, "this target has no load", "Give it one in perTarget(…).")],
    ),
    ...Object.keys(loads).flatMap((name) =>
      names.includes(name) ? [] : [problem("unknown-name", `load.${name}`, "is not a target", listed)],
    ),
    ...members.flatMap(({ weight }, index) =>
      weight === undefined
        ? []
        : [problem("conflict", `target.${index}.weight`, isShare, "Leave it out.", String(weight))],
    ),
  ];
  if (problems.length > 0) throw new UserError(problems);
  return names;
}

/** Returns the definition of one target of a mix with separate loads. @param part its index. Default: the first one */
export function partOf(definition: unknown, part = 0): unknown {
  const loads = loadsOf(definition);
  const member = loads === undefined ? undefined : membersOf(definition)?.[part];
  if (loads === undefined || member === undefined) return definition;
  const { target: _, assert, tags, ...rest } = definition as Given;
  const { name, inputs } = member;
  return {
    ...rest,
    target: member.target,
    load: loads[name],
    ...defined({ inputs, tags: member.tags ?? tags }),
    ...(Array.isArray(assert) ? { assert: assertOf(assert, name) } : {}),
  };
}

/** Returns the assertions on a target: those that name it, and those without a target. */
function assertOf(all: readonly unknown[], name: string): unknown[] {
  return all.flatMap((assertion): unknown[] => {
    const { where } = (assertion ?? {}) as { readonly where?: Readonly<Record<string, unknown>> };
    const wanted = where?.[TARGET_TAG];
    if (where === undefined || wanted === undefined) return [assertion];
    if (wanted !== name) return [];
    const { [TARGET_TAG]: _, ...others } = where;
    const { where: __, ...rest } = assertion as { readonly where?: unknown };
    return [Object.keys(others).length === 0 ? rest : { ...rest, where: others }];
  });
}
