import { COMPATIBLE_BEHAVIOUR } from "../../../plan/behaviour.ts";
import type { CancellationPlan } from "../../../plan/cancellation.ts";
import { DEFAULT_STALL_TIMEOUT_MS } from "../../../plan/defaults.ts";
import type { InputsPlan, Plan } from "../../../plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../../plan/sequences.ts";
import { NO_TELEMETRY, type ScrapePlan } from "../../../plan/telemetry.ts";
import { secToMs } from "../../../plan/units.ts";
import { targetKindOf } from "../../../registry/service-kinds.ts";
import type { RequestForm } from "../../../service/service.ts";
import { withPlanValues } from "../../options/shared-options.ts";
import { defaultSettings, isDefault } from "../options/defaults.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { sharedValues } from "../options/shared-settings.ts";
import { toLoad } from "./to-load.ts";
import { toMeasurement } from "./to-measurement.ts";
import { toOutputs } from "./to-outputs.ts";
import { type Headers, toTarget } from "./to-target.ts";

/** Converts settings to a plan. */

/** The files of a run, and the number of its requests. */
export interface ProfileFiles {
  readonly inputsFile: string;
  /** Folder of the files that it writes. */
  readonly folder: string;
  /** Number of requests in `inputsFile`. */
  readonly entryCount: number;
}

/** The file as inputs, by the form of a target's requests. */
const FILE_AS_INPUTS: Readonly<
  Record<Exclude<RequestForm, "mixed">, (file: string, order: { readonly isInOrder?: true }) => InputsPlan>
> = {
  payloads: (file, order) => ({ kind: "payloads", file, ...order }),
  messages: (file, order) => ({ kind: "messages", messageFiles: [file], entries: [], ...order }),
  tensors: (file, order) => ({ kind: "json", files: [file], ...order }),
};

/** Returns the plan of one profile. @param headers headers of every request: the user's and those of an API key */
export function toProfilePlan(
  settings: GenaiSettings,
  given: GivenSettings,
  files: ProfileFiles,
  headers: Headers,
): Plan {
  const { modelNames, rampart } = settings;
  const target = toTarget(settings, given, headers);
  const measurement = toMeasurement(settings, given, files.entryCount);
  // A fixed number of requests uses the first prompts, each once, so only these need to be created.
  const order = measurement.mode.kind === "requests" ? ({ isInOrder: true } as const) : {};
  const plan: Plan = {
    version: 1,
    name: modelNames[0] ?? "",
    target,
    load: toLoad(settings),
    sequences: DEFAULT_SEQUENCES,
    inputs: FILE_AS_INPUTS[targetKindOf(target).takes(target) as keyof typeof FILE_AS_INPUTS](files.inputsFile, order),
    measurement,
    client: {
      kind: "own",
      callMode: "async",
      maxLanes: null,
      stallTimeoutMs: DEFAULT_STALL_TIMEOUT_MS,
      isMpi: false,
    },
    failures: { maxRatio: null },
    ...(rampart.cancelPct > 0 ? { cancellation: toCancellation(settings) } : {}),
    telemetry: { ...NO_TELEMETRY, scrapes: toScrapes(settings, given) },
    assertions: [],
    outputs: toOutputs(settings, given, files.folder),
    behaviour: COMPATIBLE_BEHAVIOUR,
  };
  return withPlanValues(plan, sharedValues(settings));
}

function toCancellation({ input, rampart }: GenaiSettings): CancellationPlan {
  return { sharePct: rampart.cancelPct, delayMs: secToMs(rampart.cancelDelaySec), seed: input.randomSeed };
}

/** GenAI-Perf's interval. */
const SCRAPE_INTERVAL_MS = 330;

/** An empty list stands for the default, like in GenAI-Perf. */
function toScrapes(settings: GenaiSettings, given: GivenSettings): ScrapePlan {
  const at = "endpoint.serverMetricsUrls";
  const urls = settings.endpoint.serverMetricsUrls.map((url) => url.trim());
  return {
    urls: urls.length === 0 ? defaultSettings().endpoint.serverMetricsUrls : [...new Set(urls)],
    intervalMs: SCRAPE_INTERVAL_MS,
    isAsked: urls.length > 0 && (given.get(at)?.source === "flag" || !isDefault(settings, at)),
  };
}
