import { join } from "node:path";
import type { RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { COMPATIBLE_BEHAVIOUR } from "../../../plan/behaviour.ts";
import { fieldOf } from "../../../plan/objects.ts";
import type { InputsPlan, Plan } from "../../../plan/plan.ts";
import { NO_TELEMETRY } from "../../../plan/telemetry.ts";
import { targetKindOf } from "../../../registry/service-kinds.ts";
import type { GenaiOutputs } from "../../../report/genai-perf/outputs.ts";
import type { RequestForm } from "../../../service/service.ts";
import { withPlanValues } from "../../options/place.ts";
import { Settings } from "../../perf-analyzer/settings.ts";
import type { Asked } from "../options/asked.ts";
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

/** Returns the files from which the requests and the load of a profile are read. An empty text means none. */
export function inputFilesOf({ load, requests: { body, prompts } }: ProfilePlan): string[] {
  return [
    fieldOf(prompts.source, "path") ?? "",
    fieldOf(load, "file") ?? "",
    body.kind === "jinja-template" && body.isFile ? body.template : "",
  ];
}

/** Name of the file of requests in a run's folder. */
const INPUTS_FILE = "inputs.json";

/** The requests' file as inputs, by the form of a target's requests. */
const FILE_AS_INPUTS: Readonly<
  Record<Exclude<RequestForm, "mixed">, (file: string, order: { readonly isInOrder?: true }) => InputsPlan>
> = {
  payloads: (file, order) => ({ kind: "payloads", file, ...order }),
  messages: (file, order) => ({ kind: "messages", messageFiles: [file], entries: [], ...order }),
  tensors: (file, order) => ({ kind: "json", files: [file], ...order }),
};

/** Returns the plan of one profile. @param folder of its files @param headers of every request: the user's and an API key's */
export function toProfilePlan(asked: Asked, folder: string, headers: Headers): ProfilePlan {
  const target = toTarget(asked, headers);
  const measurement = toMeasurement(asked);
  const file = join(folder, INPUTS_FILE);
  // A fixed number of requests uses the first prompts, each once, so only these must be created.
  const order = measurement.mode.kind === "requests" ? ({ isInOrder: true } as const) : {};
  // GenAI-Perf leaves all other settings at perf_analyzer's defaults.
  const settings = new Settings();
  const { value = 1 } = asked.get("perf_analyzer.stimulus");
  const plan: Plan = {
    version: 1,
    name: asked.get("model_names")[0] ?? "",
    target,
    load: asked.load.toPlan(value),
    sequences: settings.sequences,
    inputs: FILE_AS_INPUTS[targetKindOf(target).takes(target) as keyof typeof FILE_AS_INPUTS](file, order),
    requests: toRequests(asked, file),
    measurement,
    client: { ...settings.client, callMode: "async", maxLanes: null },
    failures: { maxRatio: null },
    telemetry: { ...NO_TELEMETRY, scrapes: { urls: [], intervalMs: SCRAPE_INTERVAL_MS, isAsked: asksMetrics(asked) } },
    assertions: [],
    outputs: toOutputs(asked, folder),
    behaviour: COMPATIBLE_BEHAVIOUR,
  };
  return withPlanValues(asked.land(plan), asked.planValues) as ProfilePlan;
}

const SCRAPE_INTERVAL_MS = 330;

function asksMetrics(asked: Asked): boolean {
  const name = "endpoint.server_metrics_urls";
  return asked.get(name).length > 0 && asked.isChosen(name);
}
