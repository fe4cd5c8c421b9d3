import { type MixMemberPlan, type MixTargetPlan, memberPlanOf, mixSchema } from "../../plan/groups/mix.ts";
import type { Plan, TargetPlan } from "../../plan/plan.ts";
import { movePath, type Problem, problem } from "../../plan/problem.ts";
import { countOf, formatPct } from "../../plan/units.ts";
import type { TargetKind } from "../service.ts";

/** Several targets of any kinds that share one load. The run opens each of them. @param kindOf returns the kind of a member's target */
export function createMixKind(kindOf: (target: TargetPlan) => TargetKind<TargetPlan>): TargetKind<MixTargetPlan> {
  return {
    schema: mixSchema,
    urls: ({ members }) => members.flatMap(({ target }) => kindOf(target).urls(target)),
    describe: ({ members }) => countOf(members.length, "target"),
    subject: ({ members }) => describeMembers(members, kindOf),
    hasNoStatistics: true,
    throughputUnit: "req/s",
    takes: () => "mixed",
    exported: () => ({ serviceKind: "mix", endpoint: "" }),
    members: ({ members }) => members,
    check: ({ members }, plan) => [
      ...checkNames(members),
      ...members.flatMap((member, index) => checkMember(member, `target.${index}`, plan, kindOf)),
    ],
    registerSecrets: ({ members }) => {
      for (const { target } of members) kindOf(target).registerSecrets?.(target);
    },
  };
}

function describeMembers(
  members: readonly MixMemberPlan[],
  kindOf: (target: TargetPlan) => TargetKind<TargetPlan>,
): string {
  const sum = members.reduce((total, { weight }) => total + weight, 0);
  const texts = members.map(({ name, weight, target }) => {
    const kind = kindOf(target);
    const model = "model" in target ? `model ${target.model} on ` : "";
    const what = kind.subject?.(target) ?? `${model}${kind.describe(target)}`;
    return `${name} (${formatPct(weight / sum)}, ${what})`;
  });
  return `mix of ${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

function checkNames(members: readonly MixMemberPlan[]): Problem[] {
  return members.flatMap(({ name }, index) => {
    const first = members.findIndex((other) => other.name === name);
    if (first === index) return [];
    const message = `is also the name of member ${first}`;
    return [problem("conflict", `target.${index}.name`, message, "Give each member a name of its own.", name)];
  });
}

/** Returns the reasons why a target cannot be a member, including conflicts that its kind reports. */
function checkMember(
  member: MixMemberPlan,
  path: string,
  plan: Plan,
  kindOf: (target: TargetPlan) => TargetKind<TargetPlan>,
): Problem[] {
  const { target } = member;
  const kind = kindOf(target);
  const problems = (kind.check?.(target, memberPlanOf(plan, member)) ?? []).map((found) =>
    movePath(found, (place) => (place.startsWith("target.") ? `${path}.${place}` : place)),
  );
  if (kind.isInProcess === true) {
    const message = "runs in a process of the run and cannot share its load with other targets";
    problems.push(problem("unsupported", `${path}.target`, message, "Measure it alone, or start a server."));
  }
  if ("sharedMemory" in target && target.sharedMemory !== "none") {
    const message = "cannot be mixed: each slot of shared memory belongs to one model";
    problems.push(problem("unsupported", `${path}.target.sharedMemory`, message, "Leave sharedMemory out."));
  }
  return problems;
}
