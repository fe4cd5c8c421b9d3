import type { GrpcTargetPlan } from "../../../src/service/dynamic-grpc/target.ts";
import { GRPC_FAILURES, type GrpcService, grpcServers } from "../../conformance/grpc-service.ts";
import type { Aim, ConformanceRow } from "../../conformance/row.ts";
import { demoProto } from "../../servers/dynamic.ts";

/** Methods of a service of the user's own: a unary one, and one with a stream of messages each way. */

/** `{text: "a"}` with `ok`. */
const REPLY = Uint8Array.of(0x0a, 1, 0x61, 0x18, 1);

function serviceWith(replyCount: number): GrpcService {
  return {
    isLoad: () => true,
    isStream: false,
    answer: () => Array.from({ length: replyCount }, () => REPLY),
  };
}

function target({ url, moreUrls, tls }: Aim, method: string): GrpcTargetPlan {
  return {
    kind: "dynamic-grpc",
    url,
    ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }),
    protocol: "grpc",
    method,
    model: method,
    batchSize: 1,
    isStreaming: false,
    protoFiles: [demoProto],
    importPaths: [],
    successWhere: method.endsWith("Talk") ? "[-1].ok" : "ok",
    headers: [],
    compression: "none",
    tls,
  };
}

const common = {
  wire: "grpc",
  inputs: { kind: "messages", messageFiles: [], entries: [{ message: { text: "a" } }] },
  failures: GRPC_FAILURES,
  cannot: { sequences: "calls of a method belong to no sequences" },
} as const;

export const rows: readonly ConformanceRow[] = [
  {
    ...common,
    name: "a unary gRPC method",
    start: grpcServers(serviceWith(1)),
    target: (aim) => target(aim, "demo.v1.Text/Echo"),
  },
  {
    ...common,
    name: "a gRPC method with streams each way",
    start: grpcServers(serviceWith(3)),
    target: (aim) => target(aim, "demo.v1.Text/Talk"),
  },
];
