import type { MatrixRow } from "../row.ts";

/** Inference of KServe v2 as a method of a gRPC service of any kind, for servers whose service differs from Triton's. */

/** The fields of KServe v2 that a request needs; those of a response are skipped. */
function protoOf(packageName: string, method: string): string {
  return `syntax = "proto3";
package ${packageName};

service GRPCInferenceService {
  rpc ${method};
}

message ModelInferRequest {
  message Contents {
    repeated float fp32_contents = 6;
    repeated bytes bytes_contents = 8;
  }
  message Tensor {
    string name = 1;
    string datatype = 2;
    repeated int64 shape = 3;
    Contents contents = 5;
  }
  string model_name = 1;
  repeated Tensor inputs = 5;
}

message ModelInferResponse {
  string model_name = 1;
}
`;
}

/** A method and its request. */
interface Method {
  readonly protocol: string;
  readonly url: string;
  readonly packageName: string;
  readonly name: string;
  /** Whether requests and responses are streams. */
  readonly isStreamed: boolean;
  /** In protobuf's JSON mapping. */
  readonly request: object;
}

/** Returns the row of a method. */
export function methodRow({ protocol, url, packageName, name, isStreamed, request }: Method): MatrixRow {
  const stream = isStreamed ? "stream " : "";
  const signature = `${name}(${stream}ModelInferRequest) returns (${stream}ModelInferResponse)`;
  const method = `${packageName}.GRPCInferenceService/${name}`;
  return {
    protocol,
    flags: ["--service-kind", "dynamic_grpc", "-u", url, "--grpc-method", method, "--proto", "inference.proto"],
    entry: { messages: [request] },
    files: { "inference.proto": protoOf(packageName, signature) },
  };
}
