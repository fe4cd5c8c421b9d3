import { goodputsOf } from "../../measure/good-requests.ts";
import { WindowTally } from "../../measure/tally/window-tally.ts";
import type { Plan } from "../../plan/plan.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { ServiceTraits } from "../../service/service.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { Session } from "../open/session.ts";

/** Parts of a run that its tallies depend on. */
export interface TallyParts {
  readonly plan: Plan;
  readonly session: Pick<Session, "service" | "members">;
  /** Groups of requests that are measured separately; undefined when there are none. */
  readonly groups?: Pick<RequestGroups, "list"> | undefined;
}

/** Creates the tallies of a window. */
export interface NewTallies {
  /** Tally of all requests. */
  all(): WindowTally;
  groups(): WindowTally[];
}

/** Returns a factory for the tallies of a run's windows. @param isScheduled whether requests have due times */
export function talliesOf({ plan, session, groups }: TallyParts, isScheduled: boolean): NewTallies {
  const goodputs = goodputsOf(plan);
  const create = (service: ServiceTraits, isStreamed: boolean | undefined): WindowTally =>
    new WindowTally({
      isScheduled,
      countsReading: service.wire === "http",
      isDecoupled: service.isDecoupled || service.hasManyResponses === true,
      isStreamed,
      extracted: service.responseReader?.names,
      goodputs,
    });
  return {
    all: () => create(session.service, tokensPlanOf(plan)?.isStreamed),
    groups: () =>
      (groups?.list ?? []).map(({ member, tags }) =>
        create((session.members?.[member]?.session ?? session).service, tokensPlanOf(plan, tags)?.isStreamed),
      ),
  };
}
