import { nameOf, requestsOf } from "../requests.ts";
import type { Goal } from "./goal.ts";
import {
  amountOf,
  assertions,
  describeAmount,
  duration,
  explainArrivals,
  extentOf,
  LOAD,
  P99_LIMIT,
  rate,
  steady,
  TTFT_LIMIT,
  users,
} from "./loads.ts";

/** Measures the performance under one load. */
export const numberGoal: Goal = {
  label: "one number",
  hint: "how does it do with 16 users, or at 100 requests per second?",
  asks: {
    load: LOAD,
    users: users("How many users at once?", () => "4"),
    rate: rate("Which rate?", () => "100"),
    for: duration("How long?", () => "10 s", "stable"),
    "p99-limit": P99_LIMIT,
    "ttft-limit": TTFT_LIMIT,
  },
  suffix: () => "",
  compose: (answers, target) => {
    const amount = describeAmount(answers, amountOf(answers));
    return {
      title: `How does ${nameOf(answers)} do ${answers.load === "rate" ? `at ${amount}` : `with ${amount} at once`}?`,
      fields: [
        { name: "target", value: target.toTarget(answers) },
        { name: "load", value: steady(answers, extentOf(answers)), comment: explainArrivals(answers) },
        ...requestsOf(answers, target),
        assertions(answers),
      ],
    };
  },
  firstLevel: (answers) => Number(amountOf(answers)),
  toFlagsPlan: (plan) => plan,
};
