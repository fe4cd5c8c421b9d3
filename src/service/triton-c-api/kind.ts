import { RunError, UserError } from "../../plan/problem.ts";
import type { ServiceKind } from "../service.ts";
import { toServiceFront, tritonKind } from "../triton/kind.ts";
import { type TritonInProcessTargetPlan, toTritonTarget, tritonInProcessSchema } from "./target.ts";

/** Triton's library in a process of the run's own: the model's own time, without a network. */
export const tritonInProcessKind: ServiceKind<TritonInProcessTargetPlan> = {
  schema: tritonInProcessSchema,
  urls: () => [],
  describe: ({ directory }) => `Triton of ${directory}, in process`,
  takes: () => "tensors",
  exported: () => ({ serviceKind: "triton_c_api", endpoint: "" }),
  address: ({ directory, isStreaming }) => ({
    url: directory,
    wire: isStreaming ? "grpc-stream" : "grpc",
    defaultPort: 0,
    headers: [],
  }),
  path: () => "",
  api: tritonKind.api,
  open: async (target) => {
    const [{ httpApi }, { createGrpcCodec }] = await Promise.all([
      import("../triton/http-api.ts"),
      import("../triton/grpc-codec.ts"),
    ]);
    const { isStreaming, parameters } = target;
    // Queries are JSON, as the library answers them; requests are messages, whose tensors are never text.
    return toServiceFront(toTritonTarget(target), {
      api: httpApi,
      createCodec: (model) => createGrpcCodec(model, { isStreaming, parameters }),
    });
  },
  startServer: async (target) => {
    const [{ canCompileC }, { checkInstallation, findLibrary }] = await Promise.all([
      import("../../runtime/ffi/compile-c.ts"),
      import("./find-library.ts"),
    ]);
    const problems = checkInstallation(target);
    if (problems.length > 0) throw new UserError(problems);
    if (!canCompileC || process.platform !== "linux")
      throw new RunError(
        "unsupported",
        "Triton in process works on Linux with the executable and with Bun: other runtimes cannot take the calls of Triton's threads",
        "Use the executable, start this with Bun, or measure a server over gRPC.",
      );
    const { startTritonProcess } = await import("./start-process.ts");
    return startTritonProcess(target, findLibrary(target.directory) as string);
  },
};
