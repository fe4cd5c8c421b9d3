import type { Plan } from "../../../plan/plan.ts";
import { targetKindOf } from "../../../registry/service-kinds.ts";
import type { Settings } from "../settings.ts";
import { dynamicGrpcKind } from "./dynamic-grpc.ts";
import type { PerfAnalyzerKind } from "./kind.ts";
import { openAiKind } from "./openai.ts";
import { tfServingKind } from "./tfserving.ts";
import { torchServeKind } from "./torchserve.ts";
import { tritonKind } from "./triton.ts";
import { tritonInProcessKind } from "./triton-c-api.ts";

/** The values of `--service-kind`. To add one, add a file and a line here. */
export const KINDS: Readonly<Record<string, PerfAnalyzerKind>> = {
  triton: tritonKind,
  openai: openAiKind,
  torchserve: torchServeKind,
  dynamic_grpc: dynamicGrpcKind,
  tfserving: tfServingKind,
  triton_c_api: tritonInProcessKind,
};

/** Returns the service kind of a command line. */
export function kindOf({ serviceKind }: Pick<Settings, "serviceKind">): PerfAnalyzerKind {
  return KINDS[serviceKind] as PerfAnalyzerKind;
}

/** Returns the value of `--service-kind` for a plan; undefined for a target that is available only in scenarios. */
export function kindNameOf({ target }: Pick<Plan, "target">): string | undefined {
  const { serviceKind } = targetKindOf(target).exported(target);
  return Object.hasOwn(KINDS, serviceKind) ? serviceKind : undefined;
}
