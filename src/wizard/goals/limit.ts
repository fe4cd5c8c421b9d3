import type { LoadPlan } from "../../plan/load-plan.ts";
import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToMs, parseDurationNs, parsePercent } from "../../plan/units.ts";
import { hasMeasuredSchedule } from "../../registry/load-modes.ts";
import { errorRate } from "../../scenario/assertions.ts";
import { ramp } from "../../scenario/loads/concurrency.ts";
import { findMax } from "../../scenario/loads/find-max.ts";
import { rateRamp } from "../../scenario/loads/rates.ts";
import type { Answers } from "../answers.ts";
import { nameOf, requestsOf } from "../requests.ts";
import { call, type Source } from "../source/source.ts";
import type { Goal } from "./goal.ts";
import {
  type AmountForm,
  duration,
  hasServer,
  LOAD,
  limitsOf,
  numbersOf,
  P99_LIMIT,
  rate,
  streams,
  TTFT_LIMIT,
  toDuration,
  users,
} from "./loads.ts";

/** The largest load, or a range of loads. */
const RANGE: AmountForm = {
  rule: "the largest number or MIN:MAX",
  fits: (answer, isValid) => {
    const [min = 0, max = Number.POSITIVE_INFINITY, ...more] = numbersOf(answer);
    return (
      numbersOf(answer).every(isValid) && !answer.includes(",") && more.length === 0 && min < max && answer !== "1"
    );
  },
};

/** Longest measurement of a point in `findMax` by default. */
const USUAL_MOST = "30 s";
/** Ratio of failed requests above which a load is not useful. */
const USUAL_SHARE = "1 %";
/** The search for a rate begins at this fraction of the highest rate, because percentiles take too long at very low rates. */
const LOWEST_RATE_PART = 20;
/** Shorter measurements need shorter windows than the default of `findMax`. */
const SHORT_MS = 4000;

/** Finds the highest load that keeps the limits. */
export const limitGoal: Goal = {
  label: "the limit under an SLO",
  hint: "the highest load that stays below a latency",
  asks: {
    load: LOAD,
    users: users("Up to how many users? (or MIN:MAX)", () => "64", RANGE),
    rate: rate("Up to which rate? (or MIN:MAX)", () => "1000", RANGE),
    // A limit that the user did not ask for would decide the result, so a server has none by default.
    "p99-limit": {
      ...P99_LIMIT,
      preset: (answers, { given }) =>
        (given["ttft-limit"] ?? "none") !== "none" ? "none" : hasServer(answers) ? undefined : "50 ms",
    },
    "ttft-limit": TTFT_LIMIT,
    "error-limit": {
      message: "Which share of failed requests must it stay below? (such as 1 %, or none)",
      // A search needs a limit: this is the default if there is no other.
      preset: usualShare,
      check: checkShare,
    },
    for: duration("How long at each load, at most? p99 needs about 400 requests", (answers) =>
      streams(answers) ? "60 s" : USUAL_MOST,
    ),
  },
  suffix: () => "-limit",
  compose: (answers, target) => ({
    title: `How ${answers.load === "rate" ? "high a rate" : "many users"} can ${nameOf(answers)} take within its limits?`,
    fields: [
      { name: "target", value: target.toTarget(answers) },
      {
        name: "load",
        value: call({ findMax }, { range: toRange(answers), where: toWhere(answers), ...toTimes(answers) }),
        comment:
          "Doubles the load until a limit breaks, then bisects; each point is measured until its verdict is certain.",
      },
      ...requestsOf(answers, target),
    ],
  }),
  flagsNote: "flags search by the latency alone, and judge without confidence intervals",
  // The search of perf_analyzer tries levels, and considers only the latency.
  toFlagsPlan: (plan, { "p99-limit": limit = "" }) =>
    limit === "none" ? undefined : toBinarySearch(plan, nsToMs(parseDurationNs(limit) ?? 0)),
};

function toRange({ load, users: most = "", rate: mostPerSec = "" }: Answers): Source {
  const isRate = load === "rate";
  const [first = 1, second] = numbersOf(isRate ? mostPerSec : most);
  const [min, max] = second === undefined ? [isRate ? first / LOWEST_RATE_PART : 1, first] : [first, second];
  return call(isRate ? { rateRamp } : { ramp }, min, max);
}

function toWhere(answers: Answers): Source {
  const { "error-limit": share = usualShare(answers) } = answers;
  if (share === "none") return limitsOf(answers);
  return [...limitsOf(answers), call({ errorRate }).with("below", `${parsePercent(share)} %`)];
}

/** Answers may be wrong or missing here. Other code reports that. */
function usualShare({ "p99-limit": latency = "none", "ttft-limit": firstToken = "none" }: Answers): string {
  return latency === "none" && firstToken === "none" ? USUAL_SHARE : "none";
}

function checkShare(answer: string, answers: Answers): string | undefined {
  if (answer === "none")
    return usualShare(answers) === "none" ? undefined : "must be a share: the search needs a limit";
  return (parsePercent(answer) ?? 0) > 0 ? undefined : "must be a share with its sign, such as 1 %, or none";
}

/** Returns the times of a search whose points are measured for at most this long. */
export function toTimes({ for: most = USUAL_MOST }: Pick<Answers, "for">): Record<string, Source> {
  const mostMs = nsToMs(parseDurationNs(most) ?? 0);
  if (toDuration(most) === USUAL_MOST) return {};
  const short = `${Number((mostMs / 4).toPrecision(3))} ms`;
  return { ...(mostMs < SHORT_MS ? { settle: short, window: short } : {}), forAtMost: toDuration(most) };
}

function toBinarySearch(plan: Plan, latencyLimitMs: number): Plan | undefined {
  if (fieldOf(plan.load, "search") === undefined || hasMeasuredSchedule(plan.load)) return undefined;
  const { limits: _limits, ...rest } = plan;
  const { warmupMs: _warmup, ...measurement } = plan.measurement;
  return {
    ...rest,
    load: { ...plan.load, search: "binary" } as LoadPlan,
    measurement: { ...measurement, latencyLimitMs, percentile: 99 },
  };
}
