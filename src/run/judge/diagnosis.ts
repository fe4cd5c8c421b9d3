import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import type { FailureFacts } from "../../plan/problem.ts";
import { membersOf } from "../../registry/mix.ts";
import { networkOf, type ServerTargetPlan, serviceKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { parseUrl, sourcesOf } from "../open/endpoint.ts";
import { type AskedPlace, identifyServer, type ServerIdentity } from "../open/identify-server.ts";

/** A likely user error that explains a run's failure. */
export type Diagnosis =
  /** The address ends with the beginning of the API's path. */
  | { readonly code: "doubled-path"; readonly path: string; readonly doubled: string }
  | { readonly code: "no-key"; readonly status: number }
  | { readonly code: "key-refused"; readonly status: number }
  /** The server redirects. `location` is empty when the server sent none. */
  | { readonly code: "redirected"; readonly location: string }
  /** The port speaks gRPC instead of HTTP, or vice versa. `port` is another port with the wanted protocol; absent when none was found. */
  | { readonly code: "grpc-port" | "http-port"; readonly address: string; readonly port?: number | undefined }
  | { readonly code: "tls-port" | "plain-port"; readonly address: string }
  /** The server's certificate: not signed by a trusted authority, issued for another name, or not valid today. */
  | { readonly code: "untrusted-certificate" | "other-name" | "outdated-certificate"; readonly address: string }
  /** The server ends TLS connections without a client's certificate. It may require one. */
  | { readonly code: "no-client-certificate" }
  /** The server does not answer a TLS handshake. */
  | { readonly code: "no-tls"; readonly address: string }
  /** A server of another kind, by the name of its API. `asked` is the name of the API of the requests. */
  | { readonly code: `${string}-server`; readonly address: string; readonly asked?: string };

/** Part of a plan that a diagnosis needs. */
type AskedPlan = Pick<Plan, "target"> & { readonly client?: Pick<Plan["client"], "sourceAddresses"> };

/** The request of a failed run, as a diagnosis needs it. */
export interface AskedOf {
  readonly wire: "http" | "grpc";
  readonly api: string;
  readonly isSecure: boolean;
  /** `host:port`. */
  readonly address: string;
  /** Path, including the prefix from the URL. */
  readonly path: string;
  readonly hasKey: boolean;
  /** Whether a client's certificate is sent. */
  readonly hasCertificate: boolean;
  /** Whether servers of this kind cannot be recognized, so that any HTTP server may be the right one. */
  readonly isAnyServer?: boolean;
}

/** Statuses that point to another address, unlike 304. */
const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);
const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAUTHENTICATED = 16;

/** Diagnoses a failure without querying the server; undefined when that is not possible. */
function diagnoseFailure(failure: FailureFacts, asked: AskedOf): Diagnosis | undefined {
  const { kind, status = 0, message } = failure;
  const isHttp = kind === "http";
  if (isHttp && REDIRECTS.has(status))
    return { code: "redirected", location: /redirected to (\S+)/.exec(message)?.[1] ?? "" };
  const isDenied = isHttp
    ? status === 401 || status === 403
    : kind === "grpc" && (status === GRPC_UNAUTHENTICATED || status === GRPC_PERMISSION_DENIED);
  if (isDenied) return { code: asked.hasKey ? "key-refused" : "no-key", status };
  const doubled = /\/([^/]+(?:\/[^/]+)*)\/\1(?=\/|$)/.exec(asked.path)?.[1];
  if (isHttp && (status === 404 || status === 405) && doubled !== undefined)
    return { code: "doubled-path", path: asked.path, doubled };
  const isWanting = kind === "closed" ? isUnanswered(message) : WANTS_CERTIFICATE.test(message);
  if (asked.isSecure && !asked.hasCertificate && isWanting) return { code: "no-client-certificate" };
  return kind === "tls" ? diagnoseTls(message, asked.address) : undefined;
}

/** Alerts of servers that require a client's certificate, on any runtime. */
const WANTS_CERTIFICATE =
  /alert.(?:handshake.failure|certificate.required|bad.certificate)|HandshakeFailure|CertificateRequired/i;

/** Whether a connection ended before any byte. With TLS 1.3 a client is connected before the server has checked its certificate. */
function isUnanswered(message: string): boolean {
  return /before any byte|before the response was complete/.test(message);
}

/** Error messages of the three runtimes for a certificate that they reject. */
const TLS_REASONS: readonly (readonly [
  "no-tls" | "untrusted-certificate" | "other-name" | "outdated-certificate",
  RegExp,
])[] = [
  ["no-tls", /handshake.*no response/],
  ["other-name", /certificate (?:is for|names no such)|NotValidForName/],
  ["outdated-certificate", /expired|not yet valid|NotValidYet/i],
  ["untrusted-certificate", /self[- ]signed|unable to (?:verify|get)|UnknownIssuer|local issuer/i],
];

function diagnoseTls(message: string, address: string): Diagnosis | undefined {
  const [code] = TLS_REASONS.find(([, reason]) => reason.test(message)) ?? [];
  return code && { code, address };
}

/** Diagnoses a failure by the protocol and APIs of the server. @param port neighbouring port with the wanted protocol */
export function diagnoseServer(asked: AskedOf, found: ServerIdentity, port?: number): Diagnosis | undefined {
  const { address } = asked;
  const { speaks } = found;
  const apis = found.found.map(({ api }) => api);
  const [other] = asked.isAnyServer === true || apis.includes(asked.api) ? [] : apis;
  if (speaks === "tls") return asked.isSecure ? undefined : { code: "tls-port", address };
  if (asked.wire === "http" && speaks === "grpc") return { code: "grpc-port", address, port };
  if (asked.wire === "grpc" && speaks === "http" && other === undefined) return { code: "http-port", address, port };
  return other === undefined ? undefined : { code: `${other}-server`, address, asked: asked.api };
}

/**
 * Diagnoses the failure of a run without any success. Queries the server when the failure is not enough, which takes a few seconds at most.
 */
export async function diagnose(
  { target, client = {} }: AskedPlan,
  failure: FailureFacts,
): Promise<Diagnosis | undefined> {
  // With several servers, any of them may have caused the failure.
  if (urlsOf(target).length !== 1 || membersOf(target).length > 0) return undefined;
  const { asked, place } = describeAsked(target as ServerTargetPlan, client);
  const known = diagnoseFailure(failure, asked);
  if (known !== undefined) return known;
  const { kind, status = 0, message } = failure;
  if (kind === "http") {
    if ((status !== 404 && status !== 405) || asked.isAnyServer === true) return undefined;
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

/** Servers usually have adjacent HTTP and gRPC ports. */
async function findPort(asked: AskedOf, found: ServerIdentity, place: AskedPlace): Promise<number | undefined> {
  if (found.speaks !== "http" && found.speaks !== "grpc") return undefined;
  const port = place.port + (asked.wire === "grpc" ? 1 : -1);
  if (found.speaks === asked.wire || port < 1 || port > 65_535) return undefined;
  return (await identifyServer({ ...place, port })).speaks === asked.wire ? port : undefined;
}

function describeAsked(
  target: ServerTargetPlan,
  client: NonNullable<AskedPlan["client"]>,
): { readonly asked: AskedOf; readonly place: AskedPlace } {
  const kind = serviceKindOf(target);
  const { url, wire, defaultPort, headers } = kind.address(target);
  const { host, port, pathPrefix, isSecure, authority } = parseUrl(url, defaultPort);
  const usesTls = isSecure || networkOf(target).tls.isEnabled;
  const asked: AskedOf = {
    wire: wire === "http" ? "http" : "grpc",
    api: kind.api.name,
    isSecure: usesTls,
    hasCertificate: networkOf(target).tls.certFile !== "",
    address: authority,
    path: `${pathPrefix}/${kind.path(target)}`,
    isAnyServer: kind.api.probes.length === 0,
    hasKey: [...headers, ...(fieldOf(target, "headers") ?? [])].some(([name]) =>
      /^(authorization|(x-)?api-key)$/i.test(name),
    ),
  };
  return { asked, place: { host, port, isSecure: usesTls, sources: sourcesOf(client) } };
}
