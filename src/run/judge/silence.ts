import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { membersOf } from "../../registry/mix.ts";
import { networkOf, type ServerTargetPlan, serviceKindOf, urlsOf } from "../../registry/service-kinds.ts";
import type { RunSignal } from "../interrupt.ts";
import { parseUrl, sourcesOf } from "../open/endpoint.ts";
import { identifyServer } from "../open/identify-server.ts";

/**
 * Detects a server that accepts connections and answers nothing, so that the run does not wait until each of its
 * requests stalls.
 */

/** Part of the stall timeout without any response after which the server gets a request of another kind. */
const SILENT_RATIO = 1 / 2;

/** Number of requests that the server has answered, including with an error, and of those in flight. */
export interface ResponseCounts {
  readonly answeredCount: number;
  readonly outstanding: number;
}

/** The watched run and its counts. */
export interface WatchedRun {
  readonly signal: Pick<RunSignal, "fail">;
  progress(): ResponseCounts;
}

/**
 * Ends a run with an error if none of its requests is answered within half of the stall timeout, and the server does not answer a request
 * of another kind either; a slow server does. Servers that the plan waits for, or that the run starts, are not watched.
 * @returns a function that stops watching
 */
export function watchSilence(plan: Plan, { signal, progress }: WatchedRun): () => void {
  const places = plan.behaviour?.waitsForServer === true ? [] : placesOf(plan);
  if (places.length === 0) return () => {};
  const limitMs = SILENT_RATIO * plan.client.stallTimeoutMs;
  let isOver = false;
  const isSilent = (): boolean => {
    const { answeredCount, outstanding } = progress();
    isOver ||= answeredCount > 0;
    return !isOver && outstanding > 0;
  };
  const check = async (): Promise<void> => {
    if (isSilent() && (await areSilent(places)) && isSilent()) {
      isOver = true;
      signal.fail(answersNothing(plan, `within ${formatDurationNs(msToNs(limitMs))}`, "client.stallTimeoutMs"));
    }
    if (!isOver) timer = setTimeout(() => void check(), limitMs);
  };
  let timer = setTimeout(() => void check(), limitMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the result of querying a server. Rejects when the server is silent, as in {@link watchSilence}. */
export function unlessSilent<T>(plan: Plan, asking: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const progress = () => ({ answeredCount: 0, outstanding: 1 });
  const unwatch = watchSilence(plan, { signal: { fail: reject }, progress });
  return Promise.race([asking, promise]).finally(unwatch);
}

/**
 * Returns the error of a target that answered no request. @param since time, or requests, without a response: `within 10 s` @param limit
 * setting that makes the run wait longer
 */
export function answersNothing(
  { target }: Pick<Plan, "target">,
  since: string,
  limit: "client.stallTimeoutMs" | "client.requestTimeoutMs",
): RunError {
  const message = `${urlsOf(target).join(", ")} accepts connections, but has answered nothing ${since}`;
  return new RunError("unreachable", message, ["Look at the server, or raise ", { setting: limit }, "."]);
}

type Place = Parameters<typeof identifyServer>[0];

function placesOf({ target, client }: Plan): readonly Place[] {
  const urls = urlsOf(target);
  const served = target as ServerTargetPlan;
  if (urls.length === 0 || membersOf(target).length > 0) return [];
  const { defaultPort } = serviceKindOf(served).address(served);
  return urls.map((url) => {
    const { host, port, isSecure } = parseUrl(url, defaultPort);
    return { host, port, isSecure: isSecure || networkOf(served).tls.isEnabled, sources: sourcesOf(client) };
  });
}

async function areSilent(places: readonly Place[]): Promise<boolean> {
  const asked = await Promise.all(places.map(identifyServer));
  return asked.every(({ speaks }) => speaks === "nothing");
}
