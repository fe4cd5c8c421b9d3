import { type Share, WHOLE } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { networkOf, type ServerTargetPlan } from "../../registry/service-kinds.ts";
import type { OpenSocket } from "../../runtime/socket.ts";
import type { ServiceAddress, StartedServer } from "../../service/service.ts";
import type { CreateClient } from "../../transport/client.ts";
import { FanOutClient, ServerTurns } from "../../transport/fan-out-client.ts";
import type { Endpoint } from "../../transport/request.ts";
import type { ReadStreamed } from "../../transport/streamed-responses.ts";
import { loadClient } from "./create-client.ts";
import { resolveEndpoint, sourcesOf } from "./endpoint.ts";

/** Connections to a target: for its load and for queries. */
export interface Links {
  readonly createClient: CreateClient;
  readonly createControl: CreateClient;
  /** Loads the load's client for connections that are opened in process. Absent: the client cannot work without its server. */
  createSinkClient?(open: OpenSocket): Promise<CreateClient>;
  /** Loads the client for queries to another server, by its address. Absent: there is no such client. */
  createControlAt?(url: string): Promise<CreateClient>;
  /** Number of servers, 1 or more. */
  readonly serverCount: number;
  /** The servers as the user wrote them, without secrets, in the order of the plan. Absent: one server. */
  readonly serverNames?: readonly string[];
  /** Resolves with warnings for the user when the server can be queried. Absent: the server runs already. */
  readonly ready?: Promise<readonly string[]>;
  close?(): Promise<void>;
}

interface Connected {
  readonly target: ServerTargetPlan;
  readonly address: ServiceAddress;
  readonly readStreamed: ReadStreamed | undefined;
  /** Index of the sender that uses the clients, and number of senders. Default: one sender. */
  readonly senders?: Share | undefined;
}

/** Loads the clients for a target's address. */
export async function connect(
  plan: Plan,
  { target, address, readStreamed, senders = WHOLE }: Connected,
): Promise<Links> {
  const { moreUrls, tls } = networkOf(target);
  // Each server has separate turns, and each sender begins with another source address.
  const resolve = (url: string): Endpoint =>
    resolveEndpoint({ ...address, url }, tls, sourcesOf(plan.client, senders.index));
  const endpoint = resolve(address.url);
  const others = moreUrls.map(resolve);
  const controlKind = controlKindOf(plan, address, endpoint);
  const controlWire = address.wire === "http" ? "http" : "grpc";
  const createControl = await loadClient(controlKind, controlWire, endpoint);
  const { compression, successStatuses, acceptsEncodings } = address;
  const loadFor = (to: Endpoint): Promise<CreateClient> =>
    loadClient(plan.client.kind, address.wire, { ...to, compression, successStatuses, acceptsEncodings }, readStreamed);
  const isPlain = compression === undefined && successStatuses === undefined && acceptsEncodings !== true;
  const isControlFit = plan.client.kind === controlKind && address.wire === controlWire && isPlain;
  const createFirst = isControlFit ? createControl : await loadFor(endpoint);
  const createClient =
    others.length === 0 ? createFirst : await balance(createFirst, endpoint, others, { loadFor, senders });
  const serverNames = [endpoint, ...others].map(({ authority }) => maskSecrets(authority));
  const named = others.length > 0 ? { serverNames } : {};
  const createControlAt = (url: string): Promise<CreateClient> => loadClient(controlKind, controlWire, resolve(url));
  const isOwn = plan.client.kind === "own";
  // Requests to the sink are not compressed, because the sink reads them.
  const createSinkClient = (open: OpenSocket): Promise<CreateClient> =>
    loadClient("own", address.wire, { ...endpoint, tls: undefined, open }, readStreamed);
  const links = { createClient, createControl, createControlAt, serverCount: serverNames.length, ...named };
  return isOwn ? { ...links, createSinkClient } : links;
}

export function toLinks({ ready, createClient, close }: StartedServer): Links {
  return { createClient, createControl: createClient, serverCount: 1, ready, close };
}

/** Returns a client for several servers, round robin. Queries go to the first one only. */
async function balance(
  createFirst: CreateClient,
  first: Endpoint,
  others: readonly Endpoint[],
  { loadFor, senders }: { readonly loadFor: (endpoint: Endpoint) => Promise<CreateClient>; readonly senders: Share },
): Promise<CreateClient> {
  const servers = [{ name: first.authority, createClient: createFirst }];
  for (const endpoint of others) servers.push({ name: endpoint.authority, createClient: await loadFor(endpoint) });
  return (options) => new FanOutClient(servers, new ServerTurns(servers.length, senders.index), options);
}

/**
 * Chooses the client for queries: the load's client, if the plan selects a library. With Rampart's client, queries use a library,
 * unless the plan requests Rampart's client for them too: loading a library would triple the time to the first request.
 */
function controlKindOf(plan: Plan, address: ServiceAddress, endpoint: Endpoint): Plan["client"]["kind"] {
  // Bun and Deno reject the server name that grpc-js sets for an IP address.
  const isBeyondGrpcJs =
    address.wire !== "http" &&
    endpoint.tls !== undefined &&
    process.getBuiltinModule("node:net").isIP(endpoint.host) !== 0;
  // Nor can connections of grpc-js have a source address.
  const hasSources = plan.client.sourceAddresses !== undefined;
  const isBuiltIn =
    plan.client.kind === "own" &&
    (plan.behaviour?.queriesThroughBuiltInClient === true || isBeyondGrpcJs || hasSources);
  if (isBuiltIn) return "own";
  return address.wire === "http" ? "undici" : "grpc-js";
}
