import type { Text } from "../../plan/messages.ts";
import { problem } from "../../plan/problem.ts";
import { checkResponseRules } from "../response-reader.ts";
import type { ServiceKind } from "../service.ts";
import { tritonKind } from "../triton/kind.ts";
import { type TritonInProcessTargetPlan, tritonInProcessSchema } from "./target.ts";

const loadFront = () => import("./front.ts");

/** Triton's library in a separate process: measures the model's time without a network. */
export const tritonInProcessKind: ServiceKind<TritonInProcessTargetPlan> = {
  server: "Triton in process",
  schema: tritonInProcessSchema,
  urls: () => [],
  describe: ({ directory }) => `Triton of ${directory}, in process`,
  takes: () => "tensors",
  isInProcess: true,
  startedLine: "server is alive!",
  // As in perf_analyzer's documentation.
  exported: () => ({ serviceKind: "triton_c_api", settingsName: "Triton C-API", endpoint: "" }),
  address: ({ directory, isStreaming }) => ({
    url: directory,
    wire: isStreaming ? "grpc-stream" : "grpc",
    defaultPort: 0,
    headers: [],
  }),
  check: (target, { client, telemetry }) => {
    const reasons: readonly (readonly [isBroken: boolean, path: Text, message: string, hint: string])[] = [
      [
        telemetry.trace !== null,
        { setting: "telemetry.trace.levels" },
        "Triton in process has no trace settings",
        "Leave them out.",
      ],
      [telemetry.metrics !== null, "telemetry.metrics", "Triton in process has no page of metrics", "Leave it out."],
      [client.kind !== "own", { setting: "client.kind" }, "Triton in process has a client of its own", "Leave it out."],
    ];
    const broken = reasons.filter(([isBroken]) => isBroken);
    return [
      ...checkResponseRules(target),
      ...broken.map(([, path, message, hint]) => problem("unsupported", path, message, hint)),
    ];
  },
  path: () => "",
  api: tritonKind.api,
  open: async (target) => (await loadFront()).openInProcess(target),
  startServer: async (target) => (await loadFront()).startInProcess(target),
};
