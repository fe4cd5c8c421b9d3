import * as v from "valibot";
import { type SchedulePartPlan, schedulePartSchema } from "../plan/load-options.ts";
import type { PlanOf } from "../plan/schema.ts";
import { msToNs } from "../plan/units.ts";
import { scheduledArrivals } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";
import { describePart, takePart } from "./schedule-part.ts";

const schema = () =>
  v.object({
    kind: v.literal("fixed-schedule"),
    /** Absent: the whole schedule from timestamp 0, at its own speed. */
    part: v.exactOptional(schedulePartSchema()),
  });

/** Every step of the data once, at its timestamp. */
export const fixedScheduleMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: () => ({
    drive: (_level, timestampsMs) => ({
      kind: "scheduled",
      arrivals: scheduledArrivals(timestampsMs),
      due: { firstNs: msToNs(timestampsMs[0] ?? 0), lastNs: msToNs(timestampsMs.at(-1) ?? 0) },
    }),
  }),
  unit: "request-rate",
  describe: ({ part }) => `requests at the times of the data${part === undefined ? "" : describeBounds(part)}`,
  describeLevel: () => "recorded times",
  askedMean: () => undefined,
  requestCount: () => null,
  dataOrder: "at-times",
  lacksOrder: {
    code: "missing",
    path: { setting: "inputs.data" },
    message: "a fixed schedule needs data with times",
    hint: "Give a JSON file whose entries have a 'timestamp' in milliseconds.",
  },
  takeData: ({ part }, data) => (part === undefined ? data : takePart(data, part)),
  perfAnalyzer: { isUnannounced: true, exported: { unit: "request-rate", value: 0 } },
};

function describeBounds(part: SchedulePartPlan): string {
  const { startMs, endMs, speedRatio } = part;
  const bounds = startMs === null && endMs === null ? "" : ` ${describePart(part)}`;
  return `${bounds}${speedRatio === 1 ? "" : `, ${speedRatio} times as fast`}`;
}
