import type { Plan, TargetPlan } from "../plan/plan.ts";
import { registerUrl } from "../plan/secrets.ts";
import { type EmbeddedTargetPlan, embeddedKind } from "../service/embedded/target.ts";
import { openAiKind } from "../service/openai/kind.ts";
import type { ServiceKind, TargetKind } from "../service/service.ts";
import { tritonKind } from "../service/triton/kind.ts";

/** Targets that are servers of their own; the embedded target becomes one of these when it has started. */
export type ServerTargetPlan = Exclude<TargetPlan, EmbeddedTargetPlan>;

/** The service kinds by the `kind` of their target. A new kind is one folder and one line here. */
export const SERVICE_KINDS: {
  readonly [K in ServerTargetPlan["kind"]]: ServiceKind<Extract<ServerTargetPlan, { kind: K }>>;
} = {
  triton: tritonKind,
  openai: openAiKind,
};

/** All kinds of targets by their `kind`. */
export const TARGETS: { readonly [K in TargetPlan["kind"]]: TargetKind<Extract<TargetPlan, { kind: K }>> } = {
  ...SERVICE_KINDS,
  embedded: embeddedKind,
};

/** The kind of a target, which answers all questions about it. */
export function targetKindOf(target: TargetPlan): TargetKind<TargetPlan> {
  return TARGETS[target.kind] as TargetKind<TargetPlan>;
}

/** The servers that a target names; empty where the run starts its own. */
export function urlsOf(target: TargetPlan): readonly string[] {
  return targetKindOf(target).urls(target);
}

/** The kind of a server target. */
export function serviceKindOf(target: ServerTargetPlan): ServiceKind<ServerTargetPlan> {
  return SERVICE_KINDS[target.kind] as ServiceKind<ServerTargetPlan>;
}

/** Registers all that a plan's requests carry of secrets: logins and keys in addresses, headers, and keys in variables. */
export function registerPlan({ target, telemetry }: Pick<Plan, "target" | "telemetry">): void {
  targetKindOf(target).registerSecrets?.(target);
  for (const url of telemetry.scrapes?.urls ?? []) registerUrl(url);
  if (telemetry.metrics !== null) registerUrl(telemetry.metrics.url);
}
