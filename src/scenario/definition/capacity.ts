import * as v from "valibot";
import { defined } from "../../plan/objects.ts";
import type { CapacityPlan } from "../../plan/plan.ts";
import type { OutputOf } from "../../plan/schema.ts";
import { countSchema, positiveSchema, strictOptions } from "../fields.ts";

/** Hardware of the server, for the report's capacity answer. */
export interface CapacityOptions {
  /** Number of GPUs of the measured server. */
  readonly gpus: number;
  /** Price of one GPU for one hour, in any currency. Default: no cost is reported. */
  readonly gpuHour?: number;
  /** Number of users to serve. Default: no number of GPUs is reported. */
  readonly targetUsers?: number;
}

export function capacitySchema() {
  return strictOptions({
    gpus: countSchema(),
    gpuHour: v.optional(positiveSchema()),
    targetUsers: v.optional(countSchema()),
  });
}

/** Converts the capacity to its form in a plan. */
export function toCapacityPlan({ gpus, gpuHour, targetUsers }: OutputOf<typeof capacitySchema>): CapacityPlan {
  return {
    gpuCount: gpus,
    ...defined({ gpuHourPrice: gpuHour, targetUsers }),
  };
}
