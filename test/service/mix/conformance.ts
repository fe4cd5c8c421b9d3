import type { TargetPlan } from "../../../src/plan/plan.ts";
import type { ConformanceRow } from "../../conformance/row.ts";
import { restRow } from "../http/conformance.ts";

/** Two targets that share one load. Both members are the same servers, so that these see all of its requests. */

export const rows: readonly ConformanceRow[] = [
  {
    ...restRow,
    name: "a mix of two REST targets",
    target: (aim): TargetPlan => ({
      kind: "mix",
      protocol: "http",
      isStreaming: false,
      batchSize: 1,
      members: ["first", "second"].map((name, index) => ({
        name,
        weight: index + 1,
        target: restRow.target(aim),
        inputs: restRow.inputs ?? { kind: "random" },
      })) as Extract<TargetPlan, { kind: "mix" }>["members"],
    }),
    inputs: { kind: "of-members" },
    cannot: {
      sequences: "a mix takes no sequences",
      "several servers": "each member goes through its own list of servers",
    },
  },
];
