import { spike } from "../../scenario/loads/phases.ts";
import { rate as rateLoad } from "../../scenario/loads/rates.ts";
import { nameOf, requestsOf } from "../requests.ts";
import { call } from "../source/source.ts";
import type { Goal } from "./goal.ts";
import { amountOf, assertions, describeAmount, duration, LOAD, rate, steady, toDuration, users } from "./loads.ts";

/** Sends a sudden peak over a normal load. */
export const spikeGoal: Goal = {
  label: "a spike",
  hint: "a sudden peak: how long until the latency is back?",
  asks: {
    load: LOAD,
    users: users("How many users at normal times?", () => "4"),
    rate: rate("Which rate at normal times?", () => "50"),
    peak: {
      message: "How many at the peak? (users, or requests per second)",
      preset: (answers) => String(Number((10 * Number(amountOf(answers))).toPrecision(12))),
      check: (answer, answers) => {
        const asked = answers.load === "rate" ? spikeGoal.asks.rate : spikeGoal.asks.users;
        const problem = asked?.check(answer, answers, {} as never);
        if (problem !== undefined) return problem;
        return Number(answer) > Number(amountOf(answers)) ? undefined : `must be above the normal ${amountOf(answers)}`;
      },
    },
    for: duration("How long is the peak?", () => "10 s"),
    around: duration("How long is the normal load before it, and again after it?", () => "1 min"),
  },
  suffix: () => "-spike",
  compose: (answers, target) => {
    const { peak = "" } = answers;
    const isRate = answers.load === "rate";
    return {
      title: `How long does ${nameOf(answers)} take to recover from ${describeAmount(answers, peak)} at once?`.replace(
        "second at once",
        "second",
      ),
      fields: [
        { name: "target", value: target.toTarget(answers) },
        {
          name: "load",
          value: call(
            { spike },
            {
              base: isRate ? steady(answers) : Number(amountOf(answers)),
              peak: isRate ? call({ rate: rateLoad }, Number(peak)) : Number(peak),
              at: toDuration(answers.around),
              for: toDuration(answers.for),
            },
          ),
          comment: "The normal load, the peak, and the normal load again; reports the time until the latency is back.",
        },
        ...requestsOf(answers, target),
        assertions(answers, false),
      ],
    };
  },
};
