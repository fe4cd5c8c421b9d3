import type { Plan } from "../plan/plan.ts";
import type { FailureFacts } from "../plan/problem.ts";
import { setting } from "../plan/setting-names.ts";
import { type Diagnosis, diagnose } from "../run/judge/diagnosis.ts";
import { type FrontDoor, wordFor } from "./setting-names.ts";

/** Hints on the most frequent mistakes, in the words of the front door. */

/** Returns what to change after a failure, as one line; undefined when the cause is unknown. May query the server's metadata. */
export async function findHint(plan: Plan, failure: FailureFacts, door: FrontDoor): Promise<string | undefined> {
  const diagnosis = await diagnose(plan, failure);
  return diagnosis && wordHint(diagnosis, door, plan.target.protocol);
}

/** Returns the hint in a front door's words. @param protocol the requested protocol */
export function wordHint(diagnosis: Diagnosis, door: FrontDoor, protocol: "http" | "grpc"): string {
  return wordFor(door, describe(diagnosis, protocol));
}

function describe(diagnosis: Diagnosis, protocol: "http" | "grpc"): string {
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
      return describeServer(diagnosis, protocol);
  }
}

function describePort({ code, address, port }: Diagnosis & { code: "grpc-port" | "http-port" }): string {
  const [spoken, asked] = code === "grpc-port" ? ["gRPC", "HTTP"] : ["HTTP", "gRPC"];
  const other = setting(code === "grpc-port" ? "target.protocol=grpc" : "target.protocol=http");
  const url = setting("target.url");
  const first =
    port === undefined ? `give the ${asked} port in ${url}` : `its ${asked} port is ${port}: give it in ${url}`;
  return `${address} speaks ${spoken}, not ${asked}: ${first}, or use ${other}.`;
}

function describeServer(
  { code, address }: { readonly code: string; readonly address: string },
  protocol: "http" | "grpc",
): string {
  const useTls = setting(protocol === "http" ? "target.url=https" : "target.tls=true");
  const useNoTls = setting(protocol === "http" ? "target.url=http" : "target.tls=false");
  const url = setting("target.url");
  switch (code) {
    case "tls-port":
      return `${address} speaks TLS: ${useTls}.`;
    case "plain-port":
      return `${address} does not speak TLS: ${useNoTls}.`;
    case "no-tls":
      return `${address} does not answer a TLS handshake: if it is a plain port, ${useNoTls}.`;
    case "openai-server":
      return `The server at ${address} speaks OpenAI's API, not KServe v2 (Triton): use ${setting("target.kind=openai")}, or change ${url}.`;
    case "kserve-server":
      return `The server at ${address} speaks KServe v2 (Triton), not OpenAI's API: use ${setting("target.kind=triton")}, or change ${url}.`;
    default:
      return `A server of another kind answers at ${address}: change ${url}.`;
  }
}
