import { MLSERVER_VERSION, startMlServer } from "../../servers/interop/mlserver.ts";
import type { MatrixRow, MatrixServer } from "../row.ts";
import { methodRow } from "./inference-method.ts";
import { sumMetric } from "./metrics.ts";

const STREAM =
  "its stream sends bare ModelInferResponse messages, all with the id of the call's first request, and no mark of a request's last one: responses cannot be matched to requests";

/** Two texts, in Base64. */
const TEXTS = { name: "INPUT0", datatype: "BYTES", shape: [2], contents: { bytes_contents: ["aGVsbG8=", "d29ybGQ="] } };

export const mlServer: MatrixServer = {
  name: "MLServer",
  golden: "mlserver",
  start: async () => {
    const { httpPort, grpcPort, metricsPort, stop } = await startMlServer();
    const countOf = (model: string) => () =>
      sumMetric(
        `http://127.0.0.1:${metricsPort}/metrics`,
        new RegExp(`^model_infer_request_success_total\\{model="${model}"`),
      );
    const row = (protocol: string, model: string, ...more: string[]): MatrixRow => ({
      protocol,
      flags: ["-m", model, "-u", `127.0.0.1:${more.includes("grpc") ? grpcPort : httpPort}`, ...more],
      count: countOf(model),
    });
    const { count: _, ...stream } = row("KServe over a gRPC stream", "echo_bytes", "-i", "grpc", "--streaming");
    const rows: MatrixRow[] = [
      row("KServe over HTTP", "add_sub"),
      row("KServe over HTTP, texts", "echo_bytes"),
      row("KServe over gRPC", "add_sub", "-i", "grpc"),
      row("KServe over gRPC, texts", "echo_bytes", "-i", "grpc"),
      { ...stream, fails: /streams bare ModelInferResponse messages/, why: STREAM },
      {
        ...methodRow({
          protocol: "its own gRPC stream, a call per request (dynamic_grpc)",
          url: `127.0.0.1:${grpcPort}`,
          packageName: "inference",
          name: "ModelStreamInfer",
          isStreamed: true,
          request: { model_name: "echo_bytes", inputs: [TEXTS] },
        }),
        count: countOf("echo_bytes"),
      },
    ];
    return {
      version: MLSERVER_VERSION,
      rows,
      ports: { http: httpPort, grpc: grpcPort, metrics: metricsPort },
      stop,
    };
  },
};
