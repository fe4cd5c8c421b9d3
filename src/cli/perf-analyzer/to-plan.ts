import { COMPATIBLE_BEHAVIOUR } from "../../plan/behaviour.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import type { CallModePlan, InputsPlan, Plan } from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import type { TelemetryPlan } from "../../plan/telemetry.ts";
import type { TlsPlan } from "../../plan/tls.ts";
import { registerPlan, usualUrlOf } from "../../registry/service-kinds.ts";
import { isDirectory } from "../../runtime/files.ts";
import { defaultMetricsUrl } from "../../telemetry/metrics-url.ts";
import { type PlanValues, valueAt, withPlanValues } from "../options/place.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { asksZeros, pathsOf } from "./input-data.ts";
import { kindOf } from "./kinds/kinds.ts";
import { toLoad } from "./options/load.ts";
import { callModeOf, toMode, warmupRequestsOf } from "./options/measurement.ts";
import { checkTogether } from "./rules.ts";
import type { Settings } from "./settings.ts";
import { defaultLanes } from "./threads.ts";
import { unusedOptions } from "./unused-options.ts";
import { warnTogether } from "./warnings.ts";

/** Converts the settings to a plan, with perf_analyzer's rules between options. */

/** A plan, its problems and warnings. */
export interface PlanFromFlags {
  readonly plan: Plan;
  readonly problems: readonly Problem[];
  /** Lines for stderr, in perf_analyzer's words if they are known. */
  readonly warnings: readonly string[];
}

/** Builds the plan. It can be run only if there are no problems. */
export function toPlan(settings: Settings): PlanFromFlags {
  kindOf(settings).prepare?.(settings);
  const problems = checkTogether(settings);
  const warnings = warnTogether(settings);
  for (const { reset } of unusedOptions(settings)) reset?.(settings);
  const load = toLoad(settings);
  const callMode = callModeOf(settings);
  const plan = withPlanValues(
    {
      version: 1,
      name: settings.target.model,
      target: kindOf(settings).toTarget(settings, { url: urlOf(settings), tls: tlsOf(settings) }),
      load,
      sequences: settings.sequences,
      inputs: toInputs(settings),
      measurement: {
        ...settings.measurement,
        mode: toMode(settings),
        warmupRequests: warmupRequestsOf(settings),
      },
      client: { ...settings.client, callMode, maxLanes: toMaxLanes(settings, load, callMode) },
      failures: settings.failures,
      telemetry: toTelemetry(settings),
      assertions: [],
      outputs: settings.outputs,
      behaviour: {
        ...COMPATIBLE_BEHAVIOUR,
        queriesThroughBuiltInClient: true,
        startsEarly: true,
        waitsForSilentServer: true,
      },
    },
    sharedValues(settings),
  );
  registerPlan(plan);
  return { plan, problems, warnings };
}

/** Returns the values of the options shared with other commands: the plan has all of them, the settings above only some. */
function sharedValues(settings: Settings): PlanValues {
  const values = sharedOptions("perf_analyzer").map(
    ({ setting = "" }) => [setting, valueAt(settings, setting)] as const,
  );
  return new Map(values.filter(([, value]) => value !== undefined));
}

/** Returns the TLS settings of the protocol: each protocol has its own options. */
function tlsOf({ target, sslGrpc, sslHttps }: Settings): TlsPlan {
  return target.protocol === "grpc" ? sslGrpc : sslHttps;
}

function urlOf(settings: Settings): string {
  const { url } = settings.target;
  return url ?? usualUrlOf(kindOf(settings).toTarget(settings, { url: "", tls: tlsOf(settings) }));
}

function toTelemetry(settings: Settings): TelemetryPlan {
  const { isCollectingMetrics, metricsUrl, metricsIntervalMs, telemetry } = settings;
  const url = metricsUrl ?? defaultMetricsUrl(urlOf(settings));
  const isTracing = Object.values(telemetry.trace).some((setting) => setting !== null);
  return {
    metrics: isCollectingMetrics ? { url, intervalMs: metricsIntervalMs } : null,
    trace: isTracing ? telemetry.trace : null,
  };
}

/** Returns the maximum number of lanes. With --sync, a level has as many lanes as outstanding requests. */
function toMaxLanes({ maxThreads }: Settings, load: LoadPlan, callMode: CallModePlan): number | null {
  const lanes = defaultLanes(load, callMode);
  return callMode === "sync" && lanes === null ? null : (maxThreads ?? lanes);
}

function toInputs(settings: Settings): InputsPlan {
  const paths = pathsOf(settings.inputData);
  const [first] = paths;
  const { toInputs: toKindInputs } = kindOf(settings);
  if (toKindInputs !== undefined) return toKindInputs(settings, paths);
  if (first !== undefined && isDirectory(first)) return { kind: "directory", directory: first };
  if (first !== undefined) return { kind: "json", files: paths, refusesShortFloats: true };
  return { kind: asksZeros(settings.inputData) ? "zero" : "random", ...settings.inputs };
}
