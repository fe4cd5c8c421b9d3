import type { CancellationPlan } from "../../../plan/cancellation.ts";
import type { Plan } from "../../../plan/plan.ts";
import { DEFAULT_MAX_RESPONSE_BYTES } from "../../../plan/response-limit.ts";
import { DEFAULT_SEQUENCES } from "../../../plan/sequences.ts";
import { NO_TELEMETRY, type ScrapePlan } from "../../../plan/telemetry.ts";
import { defaultSettings, isDefault } from "../options/defaults.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { toLoad } from "./to-load.ts";
import { toMeasurement } from "./to-measurement.ts";
import { type Headers, toTarget } from "./to-target.ts";

/** From settings to a plan. */

/** The files of a run, and what decides its length. */
export interface ProfileFiles {
  readonly inputsFile: string;
  readonly profileExportFile: string;
  /** Requests in `inputsFile`. */
  readonly entryCount: number;
}

/** The plan of one profile. @param headers of every request, the user's own and those of an API key */
export function toProfilePlan(
  settings: GenaiSettings,
  given: GivenSettings,
  files: ProfileFiles,
  headers: Headers,
): Plan {
  const { modelNames, rampart } = settings;
  const target = toTarget(settings, given, headers);
  const measurement = toMeasurement(settings, given, files.entryCount);
  // A number of requests takes as many prompts from the first on, each once, and no more of them need to be made.
  const order = measurement.mode.kind === "requests" ? { isInOrder: true } : {};
  return {
    version: 1,
    name: modelNames[0] ?? "",
    target,
    load: toLoad(settings),
    sequences: DEFAULT_SEQUENCES,
    inputs:
      target.kind === "openai"
        ? { kind: "payloads", file: files.inputsFile, ...order }
        : { kind: "json", files: [files.inputsFile], ...order },
    measurement,
    client: {
      kind: "own",
      callMode: "async",
      maxLanes: null,
      stallTimeoutMs: rampart.stallTimeoutSec * 1000,
      ...(rampart.requestTimeoutSec === null ? {} : { requestTimeoutMs: rampart.requestTimeoutSec * 1000 }),
      ...(rampart.maxResponseBytes === DEFAULT_MAX_RESPONSE_BYTES
        ? {}
        : { maxResponseBytes: rampart.maxResponseBytes }),
      isMpi: false,
    },
    failures: { maxRatio: rampart.maxFailureRatio < 1 ? rampart.maxFailureRatio : null },
    ...(rampart.cancelPct > 0 ? { cancellation: toCancellation(settings) } : {}),
    telemetry: { ...NO_TELEMETRY, scrapes: toScrapes(settings, given) },
    assertions: [],
    outputs: {
      style: "genai-perf",
      verbosity: 0,
      files: {
        profileExport: files.profileExportFile,
        ...(rampart.recordsFile === "" ? {} : { records: rampart.recordsFile }),
      },
      isVerboseCsv: false,
      isLive: rampart.isLive,
    },
    behaviour: { skipsRunCounters: true, measuresLevelsOnce: true },
  };
}

function toCancellation({ input, rampart }: GenaiSettings): CancellationPlan {
  return { sharePct: rampart.cancelPct, delayMs: rampart.cancelDelaySec * 1000, seed: input.randomSeed };
}

/** The original's interval. */
const SCRAPE_INTERVAL_MS = 330;

/** An empty list stands for the default, as in the original. */
function toScrapes(settings: GenaiSettings, given: GivenSettings): ScrapePlan {
  const at = "endpoint.serverMetricsUrls";
  const urls = settings.endpoint.serverMetricsUrls.map((url) => url.trim());
  return {
    urls: urls.length === 0 ? defaultSettings().endpoint.serverMetricsUrls : [...new Set(urls)],
    intervalMs: SCRAPE_INTERVAL_MS,
    isAsked: urls.length > 0 && (given.get(at)?.source === "flag" || !isDefault(settings, at)),
  };
}
