import type * as v from "valibot";
import type { TargetPlan, TritonTargetPlan } from "../plan/plan.ts";
import { embeddedSchema } from "../service/embedded/target.ts";
import type { ServiceKind } from "../service/service.ts";
import { tritonKind } from "../service/triton/kind.ts";

/** Targets that are servers of their own; the embedded target becomes one of these when it has started. */
export type ServerTargetPlan = TritonTargetPlan;

/** The service kinds by the `kind` of their target. A new kind is one folder and one line here. */
export const SERVICE_KINDS: { readonly [K in ServerTargetPlan["kind"]]: ServiceKind<Extract<ServerTargetPlan, { kind: K }>> } = {
  triton: tritonKind,
};

/** The schemas of all targets. */
export const TARGET_SCHEMAS: { readonly [K in TargetPlan["kind"]]: v.GenericSchema<unknown, TargetPlan> } = {
  triton: tritonKind.schema,
  embedded: embeddedSchema,
};

/** The kind of a server target. */
export function serviceKindOf(target: ServerTargetPlan): ServiceKind<ServerTargetPlan> {
  return SERVICE_KINDS[target.kind];
}
