import type { ClientPlan } from "../../plan/plan.ts";
import { msToNs, nsToMs } from "../../plan/units.ts";
import type { ServerTargetPlan } from "../../registry/service-kinds.ts";
import { networkOf, serviceKindOf } from "../../registry/service-kinds.ts";
import type { ListedModel, ServiceAddress } from "../../service/service.ts";
import { ControlClient } from "../../transport/control-client.ts";
import { createAsk } from "./ask.ts";
import { loadClient } from "./create-client.ts";
import { resolveEndpoint, sourcesOf } from "./endpoint.ts";
import { QueryClients } from "./query-clients.ts";
import { unlessSilent } from "./silent-server.ts";

/** Maximum time without a byte, and for a response. */
const TIMEOUT_NS = 10e9; // 10 s
const LIMIT_NS = 2 * TIMEOUT_NS;

/**
 * Queries a server for its ready models.
 * @param limitMs maximum time for a response. Default and maximum: 20 s
 * @throws UserError when the address is not valid
 * @throws RunError when the server cannot be queried
 */
export async function probeModels(
  target: ServerTargetPlan,
  client: Pick<ClientPlan, "sourceAddresses"> = {},
  limitMs = nsToMs(LIMIT_NS),
): Promise<ListedModel[]> {
  const kind = serviceKindOf(target);
  const address = kind.address(target);
  const wire = address.wire === "http" ? "http" : "grpc";
  const sources = sourcesOf(client);
  // Connections of grpc-js cannot have a source address.
  const library = wire === "http" ? "undici" : sources === undefined ? "grpc-js" : "own";
  const { tls } = networkOf(target);
  const open = async (to: ServiceAddress): Promise<ControlClient> => {
    const create = await loadClient(library, wire, resolveEndpoint(to, tls, sources));
    return new ControlClient(TIMEOUT_NS, create, { limitNs: Math.min(LIMIT_NS, msToNs(limitMs)) });
  };
  const control = new QueryClients(await open(address), (url) => open({ ...address, url }));
  try {
    const front = await kind.open(target);
    const ask = createAsk({ control, address, serverName: kind.server, waitHint: "Look at the server." }, {}, false);
    return await unlessSilent({ target, client }, front.listModels(ask));
  } finally {
    control.close();
  }
}
