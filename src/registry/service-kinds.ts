import type { MixTargetPlan } from "../plan/groups/mix.ts";
import { fieldOf } from "../plan/objects.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import type { PlansOf } from "../plan/schema.ts";
import { registerUrl } from "../plan/secrets.ts";
import { DEFAULT_TLS, type TlsPlan } from "../plan/tls.ts";
import { grpcKind } from "../service/dynamic-grpc/kind.ts";
import { type EmbeddedTargetPlan, embeddedKind } from "../service/embedded/target.ts";
import { httpKind } from "../service/http/kind.ts";
import { createMixKind } from "../service/mix/target.ts";
import { openAiKind } from "../service/openai/kind.ts";
import type { ServiceKind, TargetKind } from "../service/service.ts";
import { tfServingKind } from "../service/tfserving/kind.ts";
import { torchServeKind } from "../service/torchserve/kind.ts";
import { tritonKind } from "../service/triton/kind.ts";
import { tritonInProcessKind } from "../service/triton-c-api/kind.ts";
import { customKind } from "../service/user-defined/kind.ts";

/** A target that is a server. The embedded target becomes one once it has started. */
export type ServerTargetPlan = Exclude<TargetPlan, EmbeddedTargetPlan | MixTargetPlan>;

/** The service kinds, by the `kind` of their target. To add one, add a folder and a line here. */
export const SERVICE_KINDS = {
  triton: tritonKind,
  openai: openAiKind,
  torchserve: torchServeKind,
  tfserving: tfServingKind,
  "plain-http": httpKind,
  "dynamic-grpc": grpcKind,
  "user-defined": customKind,
  "triton-c-api": tritonInProcessKind,
};

const SINGLE_TARGETS = { ...SERVICE_KINDS, embedded: embeddedKind };

declare module "../plan/plan.ts" {
  interface TargetPlans extends PlansOf<typeof SINGLE_TARGETS> {}
}

/** All kinds of targets, by their `kind`. */
export const TARGETS = { ...SINGLE_TARGETS, mix: createMixKind((target) => targetKindOf(target)) };

export function targetKindOf(target: TargetPlan): TargetKind<TargetPlan> {
  return TARGETS[target.kind] as TargetKind<TargetPlan>;
}

/** Returns the addresses of a target's servers; empty if the run starts the server. */
export function urlsOf(target: TargetPlan): readonly string[] {
  return targetKindOf(target).urls(target);
}

/** Returns a target's other servers and its TLS settings; neither for a server that the run starts. */
export function networkOf(target: ServerTargetPlan): { readonly moreUrls: readonly string[]; readonly tls: TlsPlan } {
  return { moreUrls: fieldOf(target, "moreUrls") ?? [], tls: fieldOf(target, "tls") ?? DEFAULT_TLS };
}

export function serviceKindOf(target: ServerTargetPlan): ServiceKind<ServerTargetPlan> {
  return SERVICE_KINDS[target.kind] as ServiceKind<ServerTargetPlan>;
}

/** Returns the usual address of a target on this host, `localhost:8000`; empty for a target without a network. */
export function usualUrlOf(target: ServerTargetPlan): string {
  // The environment variable of the API key may not be set here.
  const { apiKeyEnv: _, ...withoutKey } = target as ServerTargetPlan & { readonly apiKeyEnv?: string };
  const { defaultPort } = serviceKindOf(target).address(withoutKey as ServerTargetPlan);
  return defaultPort === 0 ? "" : `localhost:${defaultPort}`;
}

/** Registers the secrets in a plan's requests: logins and keys in addresses, headers, and keys in environment variables. */
export function registerPlan({ target, telemetry }: Pick<Plan, "target" | "telemetry">): void {
  targetKindOf(target).registerSecrets?.(target);
  for (const url of telemetry.scrapes?.urls ?? []) registerUrl(url);
  if (telemetry.metrics !== null) registerUrl(telemetry.metrics.url);
}
