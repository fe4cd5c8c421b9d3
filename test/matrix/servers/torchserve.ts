import { startTorchServeKserve, TORCHSERVE_VERSION } from "../../servers/interop/torchserve.ts";
import type { MatrixRow, MatrixServer } from "../row.ts";
import { methodRow } from "./inference-method.ts";

const OTHER_NAME =
  "its service has a name of its own (org.pytorch.serve.grpc.openinference.GRPCInferenceService), and its metadata names no tensors";

const INPUT = { name: "data", datatype: "FP32", shape: [2], contents: { fp32_contents: [1, 2] } };

export const torchServeServer: MatrixServer = {
  name: "TorchServe",
  start: async () => {
    const { httpPort, grpcPort, countRequests, stop } = await startTorchServeKserve();
    const flags = (port: number): string[] => ["-m", "echo", "-u", `127.0.0.1:${port}`];
    const rows: MatrixRow[] = [
      {
        protocol: "its own predictions over HTTP",
        flags: [...flags(httpPort), "--service-kind", "torchserve"],
        entry: { TORCHSERVE_INPUT: ["input.txt"] },
        files: { "input.txt": "hello" },
        count: () => countRequests("echo"),
      },
      {
        protocol: "KServe over HTTP",
        flags: flags(httpPort),
        fails: /failed to get model metadata: /,
        why: "it answers /v2 and the health paths, and has no models there",
      },
      {
        protocol: "KServe over gRPC",
        flags: [...flags(grpcPort), "-i", "grpc"],
        fails: /Method not found: inference\.GRPCInferenceService\/ModelMetadata/,
        why: OTHER_NAME,
      },
      {
        ...methodRow({
          protocol: "its own KServe method over gRPC (dynamic_grpc)",
          url: `127.0.0.1:${grpcPort}`,
          packageName: "org.pytorch.serve.grpc.openinference",
          name: "ModelInfer",
          isStreamed: false,
          request: { model_name: "echo", inputs: [INPUT] },
        }),
        fails: /Worker died/,
        why: "the request arrives, but TorchServe answers that its worker died: the models of this test are not written for it",
      },
    ];
    return { version: TORCHSERVE_VERSION, rows, stop };
  },
};
