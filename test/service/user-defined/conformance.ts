import { toFunctionPlan } from "../../../src/plan/functions.ts";
import type { InputsPlan } from "../../../src/plan/plan.ts";
import type {
  CustomGrpcRequest,
  CustomHttpRequest,
  CustomResponse,
} from "../../../src/service/user-defined/functions.ts";
import type { CustomTargetPlan } from "../../../src/service/user-defined/target.ts";
import { GRPC_FAILURES, type GrpcService, grpcServers } from "../../conformance/grpc-service.ts";
import { HTTP_FAILURES, type HttpService, httpServers } from "../../conformance/http-service.ts";
import type { Aim, ConformanceRow } from "../../conformance/row.ts";

/** Protocols of a scenario's own: JSON-RPC over HTTP, and messages of one byte over gRPC, in unary calls and in calls of two messages. */

const NO_SEQUENCES = "a target of the user's own has no sequences";

const overHttp: HttpService = {
  isLoad: ({ path }) => path === "/rpc",
  answer: ({ path, body }) => {
    // The client asks what else is there when nothing has answered.
    if (path !== "/rpc") return { status: 404, body: "" };
    const { id, params } = JSON.parse(body.toString("utf8")) as { id: number; params: number };
    return { body: JSON.stringify({ id, result: params * 2 }) };
  },
};

function overGrpc(method: string): GrpcService {
  return {
    isLoad: (name) => name === method,
    isStream: false,
    answer: (name, message) => (name === method ? [Uint8Array.of(8, (message[1] ?? 0) * 2)] : undefined),
  };
}

function inputsOf(
  protocol: "http" | "grpc" | "grpc-call",
  encode: (value: number, index: number) => CustomHttpRequest | CustomGrpcRequest,
): InputsPlan {
  const values = toFunctionPlan("target.inputs", () => [1, 2, 3]);
  return { kind: "user-defined", values, encode: toFunctionPlan("target.encode", encode), protocol, count: 3 };
}

function target({ url, moreUrls, tls }: Aim, protocol: "http" | "grpc", isStreaming = false): CustomTargetPlan {
  const decode = (answer: CustomResponse): number =>
    protocol === "http" ? (answer.json() as { result: number }).result : (answer.parts[0]?.[1] ?? 0);
  return {
    kind: "user-defined",
    url,
    ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }),
    tls,
    protocol,
    model: "doubling",
    batchSize: 1,
    isStreaming,
    headers: [],
    decode: toFunctionPlan("target.decode", decode),
    check: toFunctionPlan("target.check", (output: number, input: number) => output === input * 2),
  };
}

export const rows: readonly ConformanceRow[] = [
  {
    name: "a target of the user's own over HTTP",
    wire: "http",
    start: httpServers(overHttp),
    target: (aim) => target(aim, "http"),
    inputs: inputsOf("http", (value, index) => ({ path: "/rpc", body: { id: index, params: value } })),
    failures: HTTP_FAILURES,
    cannot: { sequences: NO_SEQUENCES },
  },
  {
    name: "a target of the user's own over gRPC",
    wire: "grpc",
    start: grpcServers(overGrpc("Double")),
    target: (aim) => target(aim, "grpc"),
    inputs: inputsOf("grpc", (value) => ({ method: "math.Math/Double", message: Uint8Array.of(8, value) })),
    failures: GRPC_FAILURES,
    cannot: { sequences: NO_SEQUENCES },
  },
  {
    name: "a target of the user's own over streaming gRPC calls",
    wire: "grpc",
    start: grpcServers(overGrpc("Double")),
    target: (aim) => target(aim, "grpc", true),
    inputs: inputsOf("grpc-call", (value) => ({ method: "math.Math/Double", messages: [Uint8Array.of(8, value)] })),
    failures: GRPC_FAILURES,
    cannot: { sequences: NO_SEQUENCES },
  },
];
