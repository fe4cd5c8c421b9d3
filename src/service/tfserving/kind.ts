import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { ServiceApi, ServiceKind } from "../service.ts";
import { checkTfServing } from "./rules.ts";
import { type TfServingTargetPlan, tfServingTargetSchema } from "./target.ts";

/** TensorFlow Serving's PredictionService over gRPC. */

export const TF_SERVING_PORT = 8500;

const UNIMPLEMENTED = 12;

/** How to recognize TensorFlow Serving: it has the call for a model's metadata, and asks for the model that the probe does not name. */
const tfServingApi: ServiceApi = {
  name: "tfserving",
  label: "TensorFlow Serving's API",
  probes: [
    {
      protocol: "grpc",
      path: "/tensorflow.serving.PredictionService/GetModelMetadata",
      payload: new Uint8Array(0),
      recognize: ({ status, message }) =>
        status !== 0 && status !== UNIMPLEMENTED && /model|metadata_field/i.test(message)
          ? "a TensorFlow Serving server"
          : undefined,
    },
  ],
};

export const tfServingKind: ServiceKind<TfServingTargetPlan> = {
  schema: tfServingTargetSchema,
  address: ({ url, headers, compression }) => ({
    url,
    wire: "grpc",
    defaultPort: TF_SERVING_PORT,
    headers,
    ...(compression === "none" ? {} : { compression }),
  }),
  urls: serverUrls,
  describe: describeServer,
  takes: () => "tensors",
  exported: () => ({
    serviceKind: "tfserving",
    settingsName: "TENSORFLOW_SERVING",
    hidesSingleBatch: true,
    endpoint: "",
  }),
  check: checkTfServing,
  registerSecrets: registerServerSecrets,
  path: () => "tensorflow.serving.PredictionService",
  server: "a TensorFlow Serving server",
  api: tfServingApi,
  open: async (target) => (await import("./front.ts")).createTfServingFront(target),
};
