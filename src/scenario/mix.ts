import * as v from "valibot";
import type { MixMemberPlan, MixTargetPlan } from "../plan/groups/mix.ts";
import type { TargetPlan } from "../plan/plan.ts";
import { hinted, type OutputOf, type Schema, withHint } from "../plan/schema.ts";
import { refuseMore } from "./arguments.ts";
import type { InputsOf, NeededInputs } from "./define.ts";
import { strictOptions } from "./fields.ts";
import type { Inputs } from "./input-data.ts";
import { type TagOptions, toTagsPlan } from "./tags.ts";
import type { Protocol, Target } from "./targets/target.ts";
import { type AnyTarget, type MemberOfMix, memberSchema, type TargetBuilder } from "./targets/target-builder.ts";

/** One of the targets of {@link mix}. */
export interface MixMember<T extends Target = Target, I = Inputs> {
  /** Name in the report, different from those of the other members. */
  readonly name: string;
  /** The server and the model to measure. */
  readonly target: T;
  /**
   * Data to send to it. Default: `input.random()`, or the requests from the target's options; required with `openai` and
   * `embeddedLlm`.
   */
  readonly inputs?: I;
  /** Its share of the requests is its weight divided by the sum of all weights: a whole number, 1 or more. Default: 1. */
  readonly weight?: number;
  /** Tags of its requests: the same for all, or a function of the input. Default: only `target`, its name. */
  readonly tags?: TagOptions;
}

/** The members of a mix, each with the inputs that its target accepts. */
export type MembersOf<M extends readonly MixMember[]> = {
  readonly [I in keyof M]: M[I] extends MixMember<infer T>
    ? T extends Target<Protocol, infer A>
      ? MixMember<T, InputsOf<A>> & NeededInputs<"closed", A>
      : never
    : never;
};

type OtherFields<T> = T extends unknown ? Exclude<keyof T, keyof MixMember> : never;

/** {@link MembersOf}, or the compiler's message about unknown fields. */
type CheckedMembers<M extends readonly MixMember[]> = [OtherFields<M[number]>] extends [never]
  ? MembersOf<M>
  : `a member has no field ${string & OtherFields<M[number]>}`;

/** The target that combines the members of a mix. */
export type MixOf<M extends readonly MixMember[]> =
  M[number]["target"] extends Target<infer P, infer A, infer X>
    ? Target<P, A | "mixed", X | `target: ${M[number]["name"]}`>
    : never;

/**
 * Several targets under one load: models to compare, or the traffic of several models at once. Each request goes to one of them, in
 * proportion to the weights, regardless of which one responds sooner. Reports have rows for each target and for the whole.
 * @example
 * mix([
 *   { name: "a", target: embedded(), weight: 9 },
 *   { name: "b", target: embedded({ protocol: "grpc" }), weight: 1 },
 * ])
 */
export function mix<const M extends readonly [MixMember, MixMember, ...MixMember[]]>(
  members: M & CheckedMembers<M>,
): MixOf<M> {
  refuseMore("mix(members)", arguments);
  const target: Target & { readonly values: readonly unknown[] } = {
    kind: "mix",
    url: "",
    options: {},
    values: members,
  };
  return target as unknown as MixOf<M>;
}

type MixData = OutputOf<typeof mixSchema>;

/** Returns the builder of mixes. @param targetSchema returns the schema of a member's target */
export function createMixBuilder(targetSchema: () => Schema<AnyTarget>): TargetBuilder<MixData> {
  return {
    form: { name: "mix", args: ["members"], takes: "list", parts: { members: "members" } },
    startsServer: true,
    members: ({ values }) => values,
    schema: () => mixSchema(targetSchema()),
    toPlan: () => {
      throw new Error("the members of a mix have plans of their own");
    },
  };
}

function mixSchema(target: Schema<AnyTarget>) {
  return v.object({
    kind: v.literal("mix"),
    url: v.string(),
    options: strictOptions({}),
    values: v.pipe(
      withHint(
        v.array(memberSchema(target), "must be a list of { name, target, inputs, weight }"),
        'Write [{ name: "a", target: … }, { name: "b", target: … }].',
      ),
      v.check(
        hinted((members) => members.length > 1, "Add a target, or use the only one without mix."),
        "must have two targets or more",
      ),
    ),
  });
}

/** A target and its inputs in a plan. */
export type RequestsPlan = Pick<MixMemberPlan, "inputs" | "tokens"> & { readonly target: TargetPlan };

/**
 * Converts the members of a mix.
 * @param requestCount the number of requests of a level, if the load fixes it
 * @param toRequests converts a member's target and inputs
 */
export function toMixPlan(
  members: readonly MemberOfMix[],
  requestCount: number | undefined,
  toRequests: (member: MemberOfMix, requestCount: number | undefined) => RequestsPlan,
): RequestsPlan {
  const sum = members.reduce((total, { weight = 1 }) => total + weight, 0);
  const plans = members.map((member, index): MixMemberPlan => {
    const { name, weight = 1, tags } = member;
    const share = requestCount && Math.ceil((requestCount * weight) / sum);
    const { target, ...rest } = toRequests(member, share);
    return {
      name,
      weight,
      target: target as MixMemberPlan["target"],
      ...rest,
      ...(tags === undefined ? {} : { tags: toTagsPlan(tags, `target.${index}.tags`) }),
    };
  });
  const targets = plans.map(({ target }) => target);
  const mixed: MixTargetPlan = {
    kind: "mix",
    protocol: targets.every(({ protocol }) => protocol === "http") ? "http" : "grpc",
    isStreaming: targets.some(({ isStreaming }) => isStreaming),
    batchSize: 1,
    members: plans,
  };
  return { target: mixed, inputs: { kind: "of-members" } };
}
