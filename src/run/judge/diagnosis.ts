import type { Plan } from "../../plan/plan.ts";
import type { FailureFacts } from "../../plan/problem.ts";
import { type ServerTargetPlan, serviceKindOf, urlsOf } from "../../registry/service-kinds.ts";
import type { ServiceApi } from "../../service/service.ts";
import { parseUrl } from "../target/endpoint.ts";
import { type AskedPlace, identifyServer, type ServerIdentity } from "../target/identify-server.ts";

/** The mistake of a user's that a run's failure points to. */
export type Diagnosis =
  /** The address ends with what the path begins with. */
  | { readonly code: "doubled-path"; readonly path: string; readonly doubled: string }
  | { readonly code: "no-key"; readonly status: number }
  | { readonly code: "key-refused"; readonly status: number }
  /** `location` is empty where the server named none. */
  | { readonly code: "redirected"; readonly location: string }
  /** gRPC is spoken where HTTP was asked, or the reverse; `port` speaks what was asked for, absent when none was found. */
  | { readonly code: "grpc-port" | "http-port"; readonly address: string; readonly port?: number | undefined }
  | { readonly code: "tls-port" | "plain-port"; readonly address: string }
  /** Nothing answers a TLS handshake. */
  | { readonly code: "no-tls"; readonly address: string }
  /** A server of OpenAI's API answers in place of a KServe server, or the reverse. */
  | { readonly code: `${ServiceApi["name"]}-server`; readonly address: string };

/** What was asked of whom. */
export interface AskedOf {
  readonly wire: "http" | "grpc";
  readonly api: ServiceApi["name"];
  readonly isSecure: boolean;
  /** `host:port`. */
  readonly address: string;
  /** With the address's own prefix. */
  readonly path: string;
  readonly hasKey: boolean;
}

const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAUTHENTICATED = 16;

/** What the failure alone says; undefined when it says too little. */
export function diagnoseFailure(failure: FailureFacts, asked: AskedOf): Diagnosis | undefined {
  const { kind, status = 0, message } = failure;
  const isHttp = kind === "http";
  if (isHttp && status >= 300 && status < 400)
    return { code: "redirected", location: /redirected to (\S+)/.exec(message)?.[1] ?? "" };
  const isDenied = isHttp
    ? status === 401 || status === 403
    : kind === "grpc" && (status === GRPC_UNAUTHENTICATED || status === GRPC_PERMISSION_DENIED);
  if (isDenied) return { code: asked.hasKey ? "key-refused" : "no-key", status };
  const doubled = /\/([^/]+(?:\/[^/]+)*)\/\1(?=\/|$)/.exec(asked.path)?.[1];
  if (isHttp && (status === 404 || status === 405) && doubled !== undefined)
    return { code: "doubled-path", path: asked.path, doubled };
  if (kind === "tls" && /handshake.*no answer/.test(message)) return { code: "no-tls", address: asked.address };
  return undefined;
}

/** What the failure says with what was found at the address. @param port the neighbouring port that speaks what was asked for */
export function diagnoseServer(asked: AskedOf, found: ServerIdentity, port?: number): Diagnosis | undefined {
  const { address } = asked;
  const { speaks, apis } = found;
  const [other] = apis.includes(asked.api) ? [] : apis;
  if (speaks === "tls") return asked.isSecure ? undefined : { code: "tls-port", address };
  if (asked.wire === "http" && speaks === "grpc") return { code: "grpc-port", address, port };
  if (asked.wire === "grpc" && speaks === "http" && other === undefined) return { code: "http-port", address, port };
  return other === undefined ? undefined : { code: `${other}-server`, address };
}

/**
 * Looks for the mistake behind a failure of a run in which nothing succeeded. Asks the server what it is where the failure says too
 * little, which takes a few seconds at most.
 */
export async function diagnose(
  { target }: Pick<Plan, "target">,
  failure: FailureFacts,
): Promise<Diagnosis | undefined> {
  // Of several servers the failure may be any one's.
  if (urlsOf(target).length !== 1) return undefined;
  const { asked, place } = describeAsked(target as ServerTargetPlan);
  const known = diagnoseFailure(failure, asked);
  if (known !== undefined) return known;
  const { kind, status = 0, message } = failure;
  if (kind === "http") {
    if (status !== 404 && status !== 405) return undefined;
    return diagnoseServer(asked, await identifyServer(place));
  }
  const isAway = /refused|Unknown host|No route|unreachable|certificate/i.test(message);
  if (isAway || !["connect", "tls", "closed", "protocol"].includes(kind)) return undefined;
  const found = await identifyServer({ ...place, isSecure: false });
  if (asked.isSecure)
    return found.speaks === "http" || found.speaks === "grpc"
      ? { code: "plain-port", address: asked.address }
      : undefined;
  return diagnoseServer(asked, found, await findPort(asked, found, place));
}

/** Servers have their port of gRPC next to that of HTTP. */
async function findPort(asked: AskedOf, found: ServerIdentity, place: AskedPlace): Promise<number | undefined> {
  if (found.speaks !== "http" && found.speaks !== "grpc") return undefined;
  const port = place.port + (asked.wire === "grpc" ? 1 : -1);
  if (found.speaks === asked.wire || port < 1 || port > 65_535) return undefined;
  return (await identifyServer({ ...place, port })).speaks === asked.wire ? port : undefined;
}

function describeAsked(target: ServerTargetPlan): { readonly asked: AskedOf; readonly place: AskedPlace } {
  const kind = serviceKindOf(target);
  const { url, wire, defaultPort, headers } = kind.address(target);
  const { host, port, pathPrefix, isSecure, authority } = parseUrl(url, defaultPort);
  const usesTls = isSecure || target.tls.isEnabled;
  const asked: AskedOf = {
    wire: wire === "http" ? "http" : "grpc",
    api: kind.api.name,
    isSecure: usesTls,
    address: authority,
    path: `${pathPrefix}/${kind.path(target)}`,
    hasKey: headers.some(([name]) => /^(authorization|(x-)?api-key)$/i.test(name)),
  };
  return { asked, place: { host, port, isSecure: usesTls } };
}
