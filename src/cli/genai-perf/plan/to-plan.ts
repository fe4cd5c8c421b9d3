import { join } from "node:path";
import type { RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { COMPATIBLE_BEHAVIOUR } from "../../../plan/behaviour.ts";
import type { InputsPlan, Plan } from "../../../plan/plan.ts";
import { NO_TELEMETRY, type ScrapePlan } from "../../../plan/telemetry.ts";
import { targetKindOf } from "../../../registry/service-kinds.ts";
import type { GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { RequestForm } from "../../../service/service.ts";
import { withPlanValues } from "../../options/shared-option.ts";
import { Settings } from "../../perf-analyzer/settings.ts";
import { loadOf } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { defaultSettings } from "../options/defaults.ts";
import type { GenaiOption } from "../options/genai-option.ts";
import { sharedValues } from "../options/shared-settings.ts";
import { ALL_OPTIONS } from "../options/subcommands.ts";
import { toMeasurement } from "./to-measurement.ts";
import { toOutputs } from "./to-outputs.ts";
import { toRequests } from "./to-requests.ts";
import { type Headers, toTarget } from "./to-target.ts";

/** Converts settings to a plan. */

/** The plan of a profile. */
export interface ProfilePlan extends Plan {
  readonly requests: RequestsPlan;
  readonly outputs: Plan["outputs"] & { readonly genaiPerf: GenaiOutputs };
}

/** Returns the files that the requests and the load of a profile come from. An empty text stands for none. */
export function inputFilesOf({ load, requests: { body, prompts } }: ProfilePlan): string[] {
  return [
    "path" in prompts.source ? prompts.source.path : "",
    "file" in load ? load.file : "",
    body.kind === "jinja-template" && body.isFile ? body.template : "",
  ];
}

/** Name of the file of requests in a run's folder. */
const INPUTS_FILE = "inputs.json";

/** The file as inputs, by the form of a target's requests. */
const FILE_AS_INPUTS: Readonly<
  Record<Exclude<RequestForm, "mixed">, (file: string, order: { readonly isInOrder?: true }) => InputsPlan>
> = {
  payloads: (file, order) => ({ kind: "payloads", file, ...order }),
  messages: (file, order) => ({ kind: "messages", messageFiles: [file], entries: [], ...order }),
  tensors: (file, order) => ({ kind: "json", files: [file], ...order }),
};

/**
 * Returns the plan of one profile.
 * @param folder of its files
 * @param headers headers of every request: the user's and those of an API key
 */
export function toProfilePlan(asked: Asked, folder: string, headers: Headers): ProfilePlan {
  const { layout, perfAnalyzer, prompts, rampart } = asked.settings;
  const { stimulus } = perfAnalyzer;
  const target = toTarget(asked, headers);
  const measurement = toMeasurement(asked);
  const file = join(folder, INPUTS_FILE);
  // A fixed number of requests uses the first prompts, each once, so only these need to be created.
  const order = measurement.mode.kind === "requests" ? ({ isInOrder: true } as const) : {};
  // GenAI-Perf leaves the rest to perf_analyzer's defaults.
  const own = new Settings();
  const plan: Plan = {
    version: 1,
    name: layout.models[0] ?? "",
    target,
    load: loadOf(stimulus.kind).toPlan(stimulus.value ?? 1, prompts.seed),
    sequences: own.sequences,
    inputs: FILE_AS_INPUTS[targetKindOf(target).takes(target) as keyof typeof FILE_AS_INPUTS](file, order),
    requests: toRequests(asked, file),
    measurement,
    client: { ...own.client, callMode: "async", maxLanes: null },
    failures: { maxRatio: null },
    telemetry: { ...NO_TELEMETRY, scrapes: toScrapes(asked) },
    assertions: [],
    outputs: toOutputs(asked, folder),
    behaviour: COMPATIBLE_BEHAVIOUR,
  };
  return withPlanValues(
    landOptions(plan, asked),
    new Map([...sharedValues(rampart.shared), ...asked.planValues]),
  ) as ProfilePlan;
}

const LANDING: readonly GenaiOption[] = ALL_OPTIONS.filter((option: GenaiOption) => option.land !== undefined);

/** Has options put their values into the plan. */
function landOptions(plan: Plan, asked: Asked): Plan {
  const { settings } = asked;
  const { kind } = settings.perfAnalyzer.stimulus;
  const landing = LANDING.filter(({ at, needs = kind }) => needs === kind && at !== undefined && !asked.isDefault(at));
  return landing.reduce((landed, { land }) => land?.(landed, settings) ?? landed, plan);
}

/** GenAI-Perf's interval. */
const SCRAPE_INTERVAL_MS = 330;

/** An empty list stands for the default, like in GenAI-Perf. */
function toScrapes(asked: Asked): ScrapePlan {
  const at = "endpoint.serverMetricsUrls";
  const urls = asked.settings.endpoint.serverMetricsUrls.map((url) => url.trim());
  return {
    urls: urls.length === 0 ? defaultSettings().endpoint.serverMetricsUrls : [...new Set(urls)],
    intervalMs: SCRAPE_INTERVAL_MS,
    isAsked: urls.length > 0 && asked.isChosen(at),
  };
}
