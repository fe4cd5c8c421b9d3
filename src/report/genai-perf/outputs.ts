import type { GoodputLimits } from "../../measure/tokens/goodput.ts";
import type { PlotFormat } from "../plot.ts";
import type { PythonJson } from "./python-format.ts";

/** What only GenAI-Perf's own outputs need to know about a run: names in them, and how they look. */
export interface GenaiOutputs {
  /** Folder of the files of the run. */
  readonly folder: string;
  /** GenAI-Perf's name: `chat`, `vision`, … */
  readonly endpointType: string;
  /** The endpoint type whose title the reports have. Absent: the kind of the responses decides. */
  readonly titledType?: string;
  /** GenAI-Perf's name of the load, and its number if it has one. */
  readonly load: { readonly kind: string; readonly value?: number };
  /** GenAI-Perf's limits of a good request. Absent: none. */
  readonly goodput?: GoodputLimits;
  /** The whole configuration, for the JSON. */
  readonly inputConfig: PythonJson;
  /** What plots are made as, if there are any. */
  readonly plotFormats: readonly PlotFormat[];
  /** Print all tables. */
  readonly isVerbose: boolean;
}

declare module "../../plan/plan.ts" {
  interface OutputsPlan {
    /** Only with the style `genai-perf`. */
    readonly genaiPerf?: GenaiOutputs;
  }
}
