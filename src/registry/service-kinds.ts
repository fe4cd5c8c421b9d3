import type { OpenAiTargetPlan, TargetPlan, TritonTargetPlan } from "../plan/plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import { embeddedTargetSchema } from "../service/embedded/target.ts";
import { openAiKind } from "../service/openai/kind.ts";
import type { ServiceKind } from "../service/service.ts";
import { tritonKind } from "../service/triton/kind.ts";

/** Targets that are servers of their own; the embedded target becomes one of these when it has started. */
export type ServerTargetPlan = TritonTargetPlan | OpenAiTargetPlan;

/** The service kinds by the `kind` of their target. A new kind is one folder and one line here. */
export const SERVICE_KINDS: {
  readonly [K in ServerTargetPlan["kind"]]: ServiceKind<Extract<ServerTargetPlan, { kind: K }>>;
} = {
  triton: tritonKind,
  openai: openAiKind,
};

/** All targets: what describes them. */
export const TARGETS: { readonly [K in TargetPlan["kind"]]: { schema(v: Builders): Schema<TargetPlan> } } = {
  ...SERVICE_KINDS,
  embedded: { schema: embeddedTargetSchema },
};

/** The kind of a server target. */
export function serviceKindOf(target: ServerTargetPlan): ServiceKind<ServerTargetPlan> {
  return SERVICE_KINDS[target.kind] as ServiceKind<ServerTargetPlan>;
}
