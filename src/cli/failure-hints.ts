import type { Plan } from "../plan/plan.ts";
import type { FailureFacts } from "../plan/problem.ts";
import { type SettingPath, setting } from "../plan/setting-names.ts";
import { SERVICE_KINDS } from "../registry/service-kinds.ts";
import { type Diagnosis, diagnose } from "../run/judge/diagnosis.ts";
import type { FrontDoor } from "./setting-names.ts";

/** Hints on the most frequent mistakes. */

/** Returns what to change after a failure, as one line; undefined when the cause is unknown. May query the server's metadata. */
export async function findHint(plan: Plan, failure: FailureFacts, door: FrontDoor): Promise<string | undefined> {
  const diagnosis = await diagnose(plan, failure);
  return diagnosis && describeDiagnosis(diagnosis, plan.target.protocol, door);
}

/** Returns the hint. @param protocol the requested protocol @param door decides what its user can change */
export function describeDiagnosis(diagnosis: Diagnosis, protocol: "http" | "grpc", door: FrontDoor): string {
  const url = setting("target.url");
  switch (diagnosis.code) {
    case "doubled-path":
      return `Requests went to ${diagnosis.path}, which has ${diagnosis.doubled} twice: leave /${diagnosis.doubled} out of ${url}.`;
    case "no-key":
      return `The server requires a key (${diagnosis.status}), and none was sent: give it with ${setting("target.apiKeyEnv")}.`;
    case "key-refused":
      return `The server refused the key that was sent (${diagnosis.status}): check its value and its permissions.`;
    case "redirected":
      return diagnosis.location === ""
        ? "The server redirects without a location; redirects are not followed."
        : `The server redirects to ${diagnosis.location}: redirects are not followed, so point ${url} there.`;
    case "grpc-port":
    case "http-port":
      return describePort(diagnosis);
    default:
      return describeServer(diagnosis, protocol, door);
  }
}

function describePort({ code, address, port }: Diagnosis & { code: "grpc-port" | "http-port" }): string {
  const [spoken, asked] = code === "grpc-port" ? ["gRPC", "HTTP"] : ["HTTP", "gRPC"];
  const other = setting(code === "grpc-port" ? "target.protocol=grpc" : "target.protocol=http");
  const url = setting("target.url");
  const known = port === undefined ? "" : ` (${port})`;
  return `${address} speaks ${spoken}, not ${asked}. Give its ${asked} port${known} in ${url}, or use ${other}.`;
}

function describeServer(
  { code, address, asked }: { readonly code: string; readonly address: string; readonly asked?: string },
  protocol: "http" | "grpc",
  door: FrontDoor,
): string {
  const useTls = setting(protocol === "http" ? "target.url=https" : "target.tls=true");
  const useNoTls = setting(protocol === "http" ? "target.url=http" : "target.tls=false");
  switch (code) {
    case "tls-port":
      return `${address} speaks TLS: ${useTls}.`;
    case "plain-port":
      return `${address} does not speak TLS: ${useNoTls}.`;
    case "untrusted-certificate":
      return `No trusted authority signed the certificate of ${address}. ${describeTrust(protocol)}`;
    case "other-name":
      return `Give a name of the certificate in ${setting("target.url")}.`;
    case "outdated-certificate":
      return `The certificate of ${address} is not valid now: renew it, or correct this machine's clock.`;
    case "no-tls":
      return `${address} does not answer a TLS handshake: if it is a plain port, ${useNoTls}.`;
    default:
      return describeOther(code.replace(/-server$/, ""), asked, address, door);
  }
}

function describeTrust(protocol: "http" | "grpc"): string {
  if (protocol === "grpc") return `Name its authority with ${setting("target.tls=trusting-grpc")}.`;
  const unverified = setting("target.tls=unverified-http");
  return `Name its authority with ${setting("target.tls=trusting-http")}, or trust anybody with ${unverified}.`;
}

/** Describes a server of another kind. A front door without a name for the kind can only change the address. */
function describeOther(other: string, asked: string | undefined, address: string, door: FrontDoor): string {
  const kinds = Object.entries(SERVICE_KINDS);
  const [kind, entry] = kinds.find(([, { api }]) => api.name === other) ?? [];
  const url = setting("target.url");
  if (kind === undefined || entry === undefined)
    return `A server of another kind answers at ${address}: change ${url}.`;
  const wanted = kinds.find(([, { api }]) => api.name === asked)?.[1].api.label;
  const not = wanted === undefined ? "" : `, not ${wanted}`;
  const path = `target.kind=${kind}` as SettingPath;
  const use = door(path) === undefined ? "" : `use ${setting(path)}, or `;
  return `The server at ${address} speaks ${entry.api.label}${not}: ${use}change ${url}.`;
}
