import { errorRate } from "../../scenario/assertions.ts";
import { soak } from "../../scenario/loads/phases.ts";
import { nameOf, requestsOf } from "../requests.ts";
import { call } from "../source/source.ts";
import type { Goal } from "./goal.ts";
import {
  amountOf,
  describeAmount,
  duration,
  LOAD,
  limitsOf,
  P99_LIMIT,
  rate,
  steady,
  toDuration,
  users,
} from "./loads.ts";

/** Metrics of tokens cannot end a run early. */
const ABORT_AFTER = "10 s";

/** Sends the same load for a long time. */
export const soakGoal: Goal = {
  label: "a soak test",
  hint: "the same load for hours: does it get slower, or leak?",
  asks: {
    load: LOAD,
    users: users("How many users at once?", () => "4"),
    rate: rate("Which rate?", () => "100"),
    for: duration("For how long?", () => "1 h"),
    "p99-limit": P99_LIMIT,
  },
  suffix: () => "-soak",
  compose: (answers, target) => ({
    title: `Does ${nameOf(answers)} stay the same under ${describeAmount(answers, amountOf(answers))} for a long time?`,
    fields: [
      { name: "target", value: target.toTarget(answers) },
      {
        name: "load",
        value: call({ soak }, answers.load === "rate" ? steady(answers) : Number(amountOf(answers)), {
          for: toDuration(answers.for),
        }),
        comment: "Fails when latency or throughput drift from the first third of the time to the last.",
      },
      ...requestsOf(answers, target),
      {
        name: "assert",
        value: [...limitsOf(answers), call({ errorRate }).with("below", "1 %")].map((limit) =>
          limit.with("abortAfter", ABORT_AFTER),
        ),
        comment: "A server that breaks ends the run early.",
      },
    ],
  }),
};
