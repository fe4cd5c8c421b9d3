import type { DataStep } from "../../inputs/dataset.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, RunError, UserError } from "../../plan/problem.ts";
import { memberPlansOf, membersOf } from "../../registry/mix.ts";
import { modelNamed, SEPARATE_REQUESTS, type ServiceTraits } from "../../service/service.ts";
import type { ResponseNeeds } from "../../transport/client.ts";
import { BY_MEMBER, FanOutClient } from "../../transport/fan-out-client.ts";
import { openTarget } from "../open/open-target.ts";
import type { MemberSession, MixSession, Target, TargetOptions, TargetSession } from "../open/session.ts";

/** A member's target before the first query. */
interface OpenMember {
  readonly name: string;
  readonly plan: Plan;
  readonly target: Target<TargetSession>;
}

/**
 * Opens all members of a mix as one target.
 * @throws RunError or UserError whose message names the members
 */
export async function openMixedTarget(
  plan: Plan,
  { observer, search, signal, senders, made }: TargetOptions,
): Promise<Target<MixSession>> {
  const plans = memberPlansOf(plan);
  const names = plans.map(({ name }) => name);
  const opening = await Promise.allSettled(
    plans.map((member, index) => openTarget(member, { observer, search, signal, senders, held: made?.[index] })),
  );
  const members = opening.flatMap((opened, index): OpenMember[] =>
    opened.status === "fulfilled"
      ? [{ name: names[index] ?? "", plan: plans[index] ?? plan, target: opened.value }]
      : [],
  );
  if (members.length < opening.length) {
    await closeAll(members);
    throw joinErrors(names, opening);
  }
  const responses = members.map((): ResponseNeeds => ({ keepBodies: true }));
  const served = members.map(({ target }) => target.served.target);
  return {
    served: serveMembers(plan, served),
    setTrace: undefined,
    isQueried: () => members.some(({ target }) => target.isQueried()),
    setUp: async () => {
      const settled = await Promise.allSettled(members.map(({ target }) => target.setUp()));
      const sessions = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      if (sessions.length < settled.length) throw joinErrors(names, settled);
      return mixSessions(
        sessions.map((session, member) => ({
          name: names[member] ?? "",
          plan: plans[member] ?? plan,
          session: nameMember(session, member),
        })),
        responses,
      );
    },
    createClient: (options) =>
      new FanOutClient(
        members.map(({ name, target }, member) => ({
          name,
          createClient: (given) => target.createClient({ ...given, responses: responses[member] as ResponseNeeds }),
        })),
        BY_MEMBER,
        options,
      ),
    close: () => closeAll(members),
  };
}

function serveMembers(plan: Plan, targets: readonly Plan["target"][]): Plan {
  const members = membersOf(plan.target).map((member, index) => ({
    ...member,
    target: targets[index] ?? member.target,
  }));
  return { ...plan, target: { ...plan.target, members } as Plan["target"] };
}

async function closeAll(members: readonly OpenMember[]): Promise<string[]> {
  return (await Promise.all(members.map(({ target }) => target.close()))).flat();
}

/** Joins the errors of members, each with the member's name. */
function joinErrors(names: readonly string[], settled: readonly PromiseSettledResult<unknown>[]): Error {
  const failed = settled.flatMap((one, index) =>
    one.status === "rejected" ? [{ name: names[index] ?? "", error: one.reason as unknown }] : [],
  );
  const unknown = failed.find(({ error }) => !(error instanceof UserError) && !(error instanceof RunError));
  if (unknown !== undefined) return unknown.error as Error;
  const problems = failed.flatMap(({ name, error }): Problem[] =>
    error instanceof UserError ? error.problems.map((found) => ({ ...found, path: [`${name}: `, found.path] })) : [],
  );
  if (problems.length > 0) return new UserError(problems);
  const errors = failed as readonly { readonly name: string; readonly error: RunError }[];
  const { code, hint, facts } = (errors[0] as { readonly error: RunError }).error;
  const texts = errors.map(({ name, error }, index): Text => [index === 0 ? "" : "; ", `${name}: `, error.text]);
  return new RunError(code, texts, hint, facts);
}

function nameMember(session: TargetSession, member: number): TargetSession {
  const { codec } = session.service;
  const encode: typeof codec.encode = (...content) => ({ ...codec.encode(...content), member });
  return { ...session, service: { ...session.service, codec: { ...codec, encode } } };
}

/** Returns one session for all members. @throws RunError when a model cannot be mixed */
function mixSessions(members: readonly MemberSession[], responses: readonly ResponseNeeds[]): MixSession {
  for (const { name, session } of members)
    if (session.service.isSequence)
      throw new RunError(
        "unsupported",
        `${name}: the model takes sequences, whose requests cannot be mixed with others by weight`,
        "Measure it alone.",
      );
  // A model without sequences uses the first stream only.
  const streams = members.map(({ session }): readonly DataStep[] => session.dataset.streams[0] ?? []);
  return {
    service: mixServices(members),
    dataset: { streams, isFromJson: true, warnings: [] },
    warnings: members.flatMap(({ name, session }) => session.warnings.map((warning): Text => [`${name}: `, warning])),
    members,
    responses,
    counters: async () => undefined,
  };
}

/** Returns the joint traits of all members, where their differences do not matter. */
function mixServices(members: readonly MemberSession[]): ServiceTraits {
  const services = members.map(({ session }) => session.service);
  return {
    model: modelNamed(services.map(({ model }) => model.name).join(", ")),
    wire: services.every(({ wire }) => wire === "http") ? "http" : "grpc",
    ...SEPARATE_REQUESTS,
    isDecoupled: services.some(({ isDecoupled }) => isDecoupled),
    hasManyResponses: services.some(({ hasManyResponses }) => hasManyResponses === true),
    warnings: [],
    readsFirst: services.some(({ readsFirst }) => readsFirst === true),
  };
}
