import type { TokenLink } from "../../measure/tokens/token-link.ts";
import type { Plan } from "../../plan/plan.ts";
import { mlperfRulesOf } from "../../registry/load-modes.ts";
import type { RunObserver } from "../../result/observer.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createJudge } from "../mix/create-judge.ts";
import type { Session } from "../open/session.ts";
import type { RunParts } from "../run-parts.ts";
import type { Feed } from "../send/feed.ts";
import { type JoinedParts, JoinedRequests } from "./joined-requests.ts";
import { type CurrentContent, RequestReader, type RequestsWanted } from "./packed-requests.ts";

/** Determines which single requests the followers of a run need from remote senders, and joins these requests. */

/**
 * Whether one meter measures the tokens of all senders, because single requests need their tokens. Otherwise each sender measures its
 * own.
 */
export function sharesMeter(plan: Plan, observer: RunObserver, meter: TokenLink | undefined): boolean {
  const isFollowed = meter !== undefined || observer.onTokens !== undefined || plan.onRecord !== undefined;
  return isFollowed || plan.measurement.tokens?.keepsAllWindows === true || mlperfRulesOf(plan) !== undefined;
}

/**
 * Returns the wanted requests; undefined when counts are enough. @param hasMeter whether one meter measures the tokens of all
 * senders
 */
export function wantedRequests(
  plan: Plan,
  observer: RunObserver,
  session: Session,
  hasMeter: boolean,
): RequestsWanted | undefined {
  const sessions = [session, ...(session.members ?? []).map((member) => member.session)];
  const readsForHook =
    plan.onRecord !== undefined && sessions.some(({ service }) => service.responseReader !== undefined);
  const hasResponses = observer.onRecord !== undefined || hasMeter || readsForHook;
  return hasResponses || observer.onFailed !== undefined || plan.onRecord !== undefined ? { hasResponses } : undefined;
}

/** Dependencies for reading single requests: the target as the conductor has opened it. */
export interface ReadParts
  extends RequestsWanted,
    Pick<RunParts, "plan" | "observer" | "session" | "groups" | "delayNs">,
    Pick<JoinedParts, "senderCount" | "tokens" | "fail"> {
  readonly feed: Feed;
}

/** Joins the single requests of several senders for those who follow a run. */
export function joinRequests({ feed, hasResponses, plan, ...parts }: ReadParts): JoinedRequests {
  const { senderCount, observer, tokens, fail } = parts;
  const finished = { count: 0 };
  const current: CurrentContent = { content: undefined };
  // The senders have already compared and traced the responses.
  const judge = createJudge(
    {
      ...parts,
      isJudged: true,
      plan: { ...plan, outputs: { ...plan.outputs, verbosity: 0 } },
      feed: {
        contentOf: (step) => current.content ?? feed.contentOf(step),
        expectedOf: () => [],
        hasExpectations: false,
      },
    },
    () => {},
    finished,
  );
  const reader = new RequestReader({ judge, finished, current, hasResponses });
  return new JoinedRequests({ plan, senderCount, observer, reader, tokens, clock: systemClock, fail });
}
