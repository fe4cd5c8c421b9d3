import { parseRange } from "../../load/levels.ts";
import { ramp, steps } from "../../scenario/loads/concurrency.ts";
import { rateRamp, rateSteps } from "../../scenario/loads/rates.ts";
import type { Answers } from "../answers.ts";
import { nameOf, requestsOf } from "../requests.ts";
import { type Call, call } from "../source/source.ts";
import type { Goal } from "./goal.ts";
import {
  type AmountForm,
  amountOf,
  assertions,
  duration,
  extentOf,
  hasServer,
  LOAD,
  numbersOf,
  P99_LIMIT,
  rate,
  TTFT_LIMIT,
  users,
} from "./loads.ts";

const MOST_RATES = 1000;

/** `START:END`, `START:END:STEP` or a list. */
const LEVELS: AmountForm = {
  rule: "START:END, START:END:STEP or a list",
  fits: (answer, isValid) => {
    if (!numbersOf(answer).every(isValid)) return false;
    const range = parseRange(answer);
    return range === undefined ? !answer.includes(":") : range.start <= range.end;
  },
};

/** `START:END:STEP` or a list: a range of rates has no usual step. */
const RATES: AmountForm = {
  rule: "START:END:STEP or a list",
  fits: (answer, isValid) =>
    LEVELS.fits(answer, isValid) && (!answer.includes(":") || (numbersOf(answer).length === 3 && isFewRates(answer))),
};

/** Measures how throughput and latency change with the load. */
export const curveGoal: Goal = {
  label: "a curve",
  hint: "one row per level of load: where does it stop scaling?",
  asks: {
    load: LOAD,
    users: users(
      "Which numbers of users? (START:END[:STEP], or a list)",
      (answers) => (hasServer(answers) ? "1,2,4,8,16" : "1:4"),
      LEVELS,
    ),
    rate: rate("Which rates? START:END:STEP, or a list", () => "50,100,200", RATES),
    for: duration("How long at each level?", () => "2 s", "stable"),
    "p99-limit": P99_LIMIT,
    "ttft-limit": TTFT_LIMIT,
  },
  suffix: () => "",
  compose: (answers, target) => ({
    title: `How do throughput and latency of ${nameOf(answers)} change as load grows?`,
    fields: [
      { name: "target", value: target.toTarget(answers) },
      {
        name: "load",
        value: toLoad(answers),
        comment: "One row per level: where throughput stops growing, the server is at its limit.",
      },
      ...requestsOf(answers, target),
      assertions(answers),
    ],
  }),
  firstLevel: (answers) => numbersOf(amountOf(answers))[0] ?? 1,
  toFlagsPlan: (plan) => plan,
};

function toLoad(answers: Answers): Call {
  const { load, users: levels = "", rate: rates = "" } = answers;
  const isRate = load === "rate";
  const given = isRate ? rates : levels;
  const extent = extentOf(answers);
  const range = parseRange(given);
  if (range === undefined) return call(isRate ? { rateSteps } : { steps }, numbersOf(given), extent);
  const { start, end, step } = range;
  return call(isRate ? { rateRamp } : { ramp }, start, end, { ...(step === 1 ? {} : { step }), ...extent });
}

function isFewRates(answer: string): boolean {
  const range = parseRange(answer);
  return range !== undefined && (range.end - range.start) / range.step < MOST_RATES;
}
