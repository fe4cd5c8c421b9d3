import { KSERVE_VERSION, startKserve } from "../../servers/interop/kserve.ts";
import type { MatrixRow, MatrixServer } from "../row.ts";
import { sumMetric } from "./metrics.ts";

export const kserveServer: MatrixServer = {
  name: "KServe's ModelServer",
  golden: "kserve",
  start: async () => {
    const { httpPort, grpcPort, stop } = await startKserve();
    const row = (protocol: string, model: string, ...more: string[]): MatrixRow => ({
      protocol,
      flags: ["-m", model, "-u", `127.0.0.1:${more.includes("grpc") ? grpcPort : httpPort}`, ...more],
      count: () =>
        sumMetric(
          `http://127.0.0.1:${httpPort}/metrics`,
          new RegExp(`^request_predict_seconds_count\\{model_name="${model}"`),
        ),
    });
    // It reads and writes them without saying so.
    const binary = ["--input-tensor-format", "binary", "--output-tensor-format", "binary"];
    const stream = row("KServe over a gRPC stream", "add_sub", "-i", "grpc", "--streaming");
    const rows: MatrixRow[] = [
      row("KServe over HTTP", "add_sub"),
      row("KServe over HTTP, binary tensors asked for", "add_sub", ...binary),
      row("KServe over HTTP, texts", "echo_bytes"),
      row("KServe over gRPC", "add_sub", "-i", "grpc"),
      row("KServe over gRPC, texts", "echo_bytes", "-i", "grpc"),
      { ...stream, fails: /Method not found!/, why: "it has no ModelStreamInfer" },
    ];
    return { version: KSERVE_VERSION, rows, ports: { http: httpPort, grpc: grpcPort, metrics: httpPort }, stop };
  },
};
