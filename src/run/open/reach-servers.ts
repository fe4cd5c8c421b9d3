import type { ClientPlan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { networkOf, type ServerTargetPlan, serviceKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { connectFailure } from "../../transport/connect-failure.ts";
import type { Failure } from "../../transport/failure.ts";
import { openNamedSocket } from "../../transport/named-socket.ts";
import type { Endpoint } from "../../transport/request.ts";
import { describeImpliedPort, resolveEndpoint, sourcesOf } from "./endpoint.ts";

/** Maximum time for connecting. A slower server may still be reachable. */
export const MOST_PROBE_MS = 1000;

/**
 * Connects once to each server of a target, because a shared load would hide a missing server.
 * @returns the error that names the unreachable servers; undefined when all can be reached
 */
export async function reachServers(
  target: ServerTargetPlan,
  client: Pick<ClientPlan, "sourceAddresses"> = {},
): Promise<RunError | undefined> {
  const address = serviceKindOf(target).address(target);
  const { tls } = networkOf(target);
  const places = [...new Set(urlsOf(target))].map((url) => ({ ...address, url }));
  const endpoints = places.map((place) => resolveEndpoint(place, tls, sourcesOf(client)));
  const asked = await Promise.all(endpoints.map((one, at) => reach(one, describeImpliedPort(places[at] ?? address))));
  const refused = asked.filter((one) => one !== undefined);
  if (refused.length === 0) return undefined;
  const others = asked.length - refused.length;
  const rest = others === 0 ? "" : ` ${others} of ${asked.length} addresses can be reached.`;
  const hint = `Is the server running, and is this its address?${rest}`;
  return new RunError("unreachable", `cannot connect to ${refused.join(", ")}`, hint);
}

/**
 * Returns the server with the reason why it cannot be reached; undefined when it can, or when this is not known in time.
 * @param implied says which port is used if none is given
 */
async function reach(endpoint: Endpoint, implied: string): Promise<string | undefined> {
  const failure = await new Promise<Failure | undefined>((resolve) => {
    let isOpened = false;
    const timer = setTimeout(() => {
      resolve(undefined);
      socket.close();
    }, MOST_PROBE_MS);
    const socket = openNamedSocket(endpoint, {
      onOpen: () => {
        isOpened = true;
        socket.close();
      },
      onData: () => {},
      onClose: (error) => {
        clearTimeout(timer);
        resolve(isOpened ? undefined : connectFailure(error));
      },
    });
  });
  return failure && `${maskSecrets(endpoint.authority)} (${failure.message}${implied && `; ${implied}`})`;
}
