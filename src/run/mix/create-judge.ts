import type { ResponseSink } from "../../measure/tokens/packed-responses.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Call } from "../../transport/call.ts";
import type { ResponseNeeds } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import { type JudgedFeed, type Judging, RequestJudge } from "../judge/judge.ts";
import type { TargetSession } from "../open/session.ts";
import type { SenderParts } from "../run-parts.ts";
import type { Slots } from "../send/slots.ts";

/** Judges the requests of a mix, each by the rules of its member. */
export class MixedJudge implements Judging {
  readonly needsBodies: boolean;
  readonly canWait: boolean;
  private readonly judges: readonly Judging[];

  /** @param judges one per member */
  constructor(judges: readonly Judging[]) {
    this.judges = judges;
    this.needsBodies = judges.some(({ needsBodies }) => needsBodies);
    this.canWait = this.needsBodies && judges.every(({ canWait, needsBodies }) => canWait || !needsBodies);
  }

  isUndecided(call: Call): boolean {
    return this.judges[call.member]?.isUndecided?.(call) === true;
  }

  judge(call: Call, slots: Slots): Failure | undefined {
    return (this.judges[call.member] as Judging).judge(call, slots);
  }
}

/** Dependencies of a run's judge. */
export interface JudgedParts
  extends Pick<
    SenderParts,
    "plan" | "observer" | "session" | "tokens" | "groups" | "delayNs" | "createCheck" | "requests"
  > {
  readonly feed: JudgedFeed;
  /** Whether remote senders have judged the responses already. Default: false. */
  readonly isJudged?: boolean;
}

/**
 * Creates the judge of a run's responses; for a mix, one that has a judge for each member.
 * @param onExtracted receives the values that the target extracts from each successful response, its end time, and the group of its request
 * @param finished counts the requests
 */
export function createJudge(
  { plan, observer, session, feed, tokens, groups, delayNs, createCheck, requests, isJudged }: JudgedParts,
  onExtracted: (values: readonly unknown[], atNs: number, group: number | undefined) => void,
  finished = { count: 0 },
): Judging {
  const create = (judged: TargetSession, responses: ResponseSink | undefined, judgedPlan: Plan): RequestJudge =>
    new RequestJudge({
      session: judged,
      feed,
      verbosity: plan.outputs.verbosity,
      acceptsOtherOutputs: plan.behaviour?.acceptsOtherOutputs,
      observer,
      responses,
      onExtracted: (values, step, atNs) => onExtracted(values, atNs, groups?.ofStep[step]),
      groups,
      delayNs,
      contentCheck: createCheck?.(judgedPlan),
      finished,
      keepsBodies: requests?.needsBodies,
      findsCuts: judgedPlan.measurement.tokens !== undefined && isJudged !== true,
    });
  if (session.members === undefined) return create(session, tokens?.responses, plan);
  const judges = session.members.map((member) =>
    create(member.session, member.plan.measurement.tokens === undefined ? undefined : tokens?.responses, member.plan),
  );
  for (const [member, { needsBodies, createCheck: createMemberCheck }] of judges.entries())
    Object.assign(session.responses[member] as ResponseNeeds, {
      keepBodies: needsBodies,
      createCheck: createMemberCheck,
    });
  return new MixedJudge(judges);
}
