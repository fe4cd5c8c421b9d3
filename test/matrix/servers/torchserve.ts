import { startTorchServeKserve, TORCHSERVE_VERSION } from "../../servers/interop/torchserve.ts";
import type { MatrixServer } from "../row.ts";

const OTHER_NAME =
  "its service has a name of its own (org.pytorch.serve.grpc.openinference.GRPCInferenceService), and its metadata names no tensors";

export const torchServeServer: MatrixServer = {
  name: "TorchServe",
  start: async () => {
    const { httpPort, grpcPort, stop } = await startTorchServeKserve();
    const flags = (port: number): string[] => ["-m", "echo", "-u", `127.0.0.1:${port}`];
    const rows = [
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
    ];
    return { version: TORCHSERVE_VERSION, rows, stop };
  },
};
