import type { Text } from "../../plan/messages.ts";
import type { ClientPlan, Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { membersOf } from "../../registry/mix.ts";
import { networkOf, type ServerTargetPlan, serviceKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { parseUrl, sourcesOf } from "./endpoint.ts";
import { isSilent } from "./identify-server.ts";

/** A server that accepts connections and answers nothing. */

/** Time without any response after which a server is asked something else. With the time of that question it makes 3 s. */
const UNANSWERED_MS = 1500;

/** The servers that may be silent, and what connections to them come from. */
export interface AskedServers {
  readonly target: Plan["target"];
  readonly client: Pick<ClientPlan, "sourceAddresses">;
}

/** Reports whether the servers can be asked: a mix judges each of its targets by itself, and some targets have no server. */
export function canAsk({ target }: AskedServers): boolean {
  return urlsOf(target).length > 0 && membersOf(target).length === 0;
}

/** Asks all servers of a target something that each server answers at once. Returns whether all are silent. */
export async function areSilent({ target, client }: AskedServers): Promise<boolean> {
  const served = target as ServerTargetPlan;
  const { defaultPort } = serviceKindOf(served).address(served);
  const asked = urlsOf(target).map((url) => {
    const { host, port, isSecure } = parseUrl(url, defaultPort);
    return isSilent({ host, port, isSecure: isSecure || networkOf(served).tls.isEnabled, sources: sourcesOf(client) });
  });
  return (await Promise.all(asked)).every((one) => one);
}

/**
 * Returns what the queries of a server find out. Nothing else is in flight then, so a server that answers nothing at all is not a slow one.
 * @throws RunError when it is silent: after 3 s at the earliest
 */
export function unlessSilent<T>(servers: AskedServers, asking: Promise<T>): Promise<T> {
  if (!canAsk(servers)) return asking;
  const { promise, reject } = Promise.withResolvers<never>();
  let isOver = false;
  const check = async (waitedMs: number): Promise<void> => {
    // A server that was not silent the first time has answered something since the start.
    const since = waitedMs === UNANSWERED_MS ? "within 3 s" : "for 1.5 s";
    if (await areSilent(servers).catch(() => false)) reject(answersNothing(servers, since));
    else if (!isOver) timer = setTimeout(() => void check(2 * waitedMs), waitedMs);
  };
  let timer = setTimeout(() => void check(UNANSWERED_MS), UNANSWERED_MS);
  return Promise.race([asking, promise]).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
}

/** Returns the error of a target that answered no request. @param since for how long, or which requests: `within 10 s` */
export function answersNothing(
  { target }: Pick<AskedServers, "target">,
  since: string,
  hint: Text = "Look at the server.",
): RunError {
  const message = `${urlsOf(target).join(", ")} accepts connections, but has answered nothing ${since}`;
  return new RunError("unreachable", message, hint);
}
