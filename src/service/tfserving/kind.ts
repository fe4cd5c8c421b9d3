import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { DEFAULT_SEQUENCES } from "../../plan/sequences.ts";
import { OF_SERVERS } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type TfServingTargetPlan, tfServingTargetSchema } from "./target.ts";

/** TensorFlow Serving's PredictionService over gRPC. */

const TF_SERVING_PORT = 8500;

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

export const tfServingKind: ServiceKind<TfServingTargetPlan> = {
  schema: tfServingTargetSchema,
  address: ({ url, headers, compression }) => ({
    url,
    wire: "grpc",
    defaultPort: TF_SERVING_PORT,
    headers,
    ...(compression === "none" ? {} : { compression }),
  }),
  ...OF_SERVERS,
  hasNoStatistics: true,
  takes: () => "tensors",
  exported: () => ({
    serviceKind: "tfserving",
    settingsName: "TENSORFLOW_SERVING",
    hidesSingleBatch: true,
    endpoint: "",
  }),
  check: checkTfServing,
  path: () => "tensorflow.serving.PredictionService",
  server: "a TensorFlow Serving server",
  api: {
    name: "tfserving",
    label: "TensorFlow Serving's API",
    probes: [
      {
        protocol: "grpc",
        path: "/tensorflow.serving.PredictionService/GetModelMetadata",
        payload: new Uint8Array(0),
        // The request names no model. Servers without the method return UNIMPLEMENTED.
        recognize: ({ status }) =>
          status === INVALID_ARGUMENT || status === NOT_FOUND ? "a TensorFlow Serving server" : undefined,
      },
    ],
  },
  open: async (target) => (await import("./front.ts")).createTfServingFront(target),
};

const SEQUENCE_SETTINGS = ["length", "lengthVariationPct", "idCount", "concurrent", "isSerial"] as const;

/** Returns the settings of a plan that have no counterpart in TensorFlow Serving. */
function checkTfServing(_target: TfServingTargetPlan, { sequences }: Plan): Problem[] {
  return SEQUENCE_SETTINGS.filter((name) => sequences[name] !== DEFAULT_SEQUENCES[name]).map((name) =>
    problem("unsupported", { setting: `sequences.${name}` }, "TensorFlow Serving has no sequences", "Leave it out."),
  );
}
