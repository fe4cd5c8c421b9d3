import type { Plan } from "../plan/plan.ts";
import type { FailureFacts } from "../plan/problem.ts";
import { type Diagnosis, diagnose } from "../run/judge/diagnosis.ts";

/** Hints where users are wrong most, in the words of the front door that they typed into. */

type Style = Plan["outputs"]["style"];

/** What a front door calls what a hint says to change. */
interface HintNames {
  /** Where the server's address stands. */
  readonly address: string;
  readonly http: string;
  readonly grpc: string;
  readonly kserve: string;
  readonly openai: string;
  /** How to give an API key. */
  readonly key: string;
  /** What to do for TLS, and what against it. */
  readonly httpTls: TlsNames;
  readonly grpcTls: TlsNames;
}

interface TlsNames {
  readonly on: string;
  readonly off: string;
}

const NAMES: Readonly<Record<Style, HintNames>> = {
  rampart: {
    address: "the target's address",
    http: 'protocol: "http"',
    grpc: 'protocol: "grpc"',
    kserve: "triton(…)",
    openai: "openai(…)",
    key: 'apiKeyEnv: "NAME" (the variable of the environment that holds it)',
    httpTls: { on: "write https:// before the address", off: "write http:// before the address and leave tls out" },
    grpcTls: { on: "give tls: true", off: "leave tls out" },
  },
  perf_analyzer: {
    address: "-u",
    http: "-i http",
    grpc: "-i grpc",
    kserve: "--service-kind triton",
    openai: "--service-kind openai --async --endpoint v1/chat/completions",
    key: '-H "Authorization: Bearer KEY"',
    httpTls: { on: "write https:// in -u", off: "write http:// in -u" },
    grpcTls: { on: "give --ssl-grpc-use-ssl", off: "leave --ssl-grpc-use-ssl out" },
  },
  "genai-perf": {
    address: "--url",
    http: "an --endpoint-type over HTTP, such as chat",
    grpc: "--endpoint-type kserve",
    kserve: "--endpoint-type kserve",
    openai: "--endpoint-type chat",
    key: '--api-key-env NAME (the variable of the environment that holds it) or -H "Authorization: Bearer KEY"',
    httpTls: { on: "write https:// in --url", off: "write http:// in --url" },
    grpcTls: { on: "give --ssl-grpc-use-ssl after --", off: "leave --ssl-grpc-use-ssl out" },
  },
};

/** What to change after a failure, as one line; undefined when the cause is not known. May ask the server what it is. */
export async function findHint(plan: Plan, failure: FailureFacts): Promise<string | undefined> {
  const diagnosis = await diagnose(plan, failure);
  return diagnosis && wordHint(diagnosis, plan.outputs.style, plan.target.protocol);
}

/** The hint in a front door's words. @param protocol what was asked for */
export function wordHint(diagnosis: Diagnosis, style: Style, protocol: "http" | "grpc"): string {
  const names = NAMES[style];
  switch (diagnosis.code) {
    case "doubled-path":
      return `Requests went to ${diagnosis.path}, which has ${diagnosis.doubled} twice: leave /${diagnosis.doubled} out of ${names.address}.`;
    case "no-key":
      return `The server wants a key (${diagnosis.status}) and none was sent: give it with ${names.key}.`;
    case "key-refused":
      return `The server refused the key that was sent (${diagnosis.status}): check its value and what it permits.`;
    case "redirected":
      return diagnosis.location === ""
        ? "The server redirects elsewhere without saying where; redirects are not followed."
        : `The server redirects to ${diagnosis.location}: redirects are not followed, so change ${names.address} to lead there.`;
    case "grpc-port":
    case "http-port":
      return wordPort(diagnosis, names);
    default:
      return wordServer(diagnosis, names, protocol);
  }
}

function wordPort({ code, address, port }: Diagnosis & { code: "grpc-port" | "http-port" }, names: HintNames): string {
  const [spoken, asked] = code === "grpc-port" ? ["gRPC", "HTTP"] : ["HTTP", "gRPC"];
  const other = code === "grpc-port" ? names.grpc : names.http;
  const first =
    port === undefined
      ? `give the ${asked} port in ${names.address}`
      : `its ${asked} port is ${port}: give it in ${names.address}`;
  return `${address} speaks ${spoken}, not ${asked}: ${first}, or use ${other}.`;
}

function wordServer(
  { code, address }: { readonly code: string; readonly address: string },
  names: HintNames,
  protocol: "http" | "grpc",
): string {
  const tls = protocol === "http" ? names.httpTls : names.grpcTls;
  switch (code) {
    case "tls-port":
      return `${address} speaks TLS: ${tls.on}.`;
    case "plain-port":
      return `${address} speaks no TLS: ${tls.off}.`;
    case "no-tls":
      return `${address} does not answer a TLS handshake: if it is a plain port, ${tls.off}.`;
    case "openai-server":
      return `A server of OpenAI's API answers at ${address}, not a Triton: use ${names.openai}, or change ${names.address}.`;
    default:
      return `A Triton (KServe v2) server answers at ${address}, not one of OpenAI's API: use ${names.kserve}, or change ${names.address}.`;
  }
}
