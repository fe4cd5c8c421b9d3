import { nearestDuration } from "../../plan/nearest-name.ts";
import { type Duration, nsToSec, parseDurationNs } from "../../plan/units.ts";
import { errorRate, p99 } from "../../scenario/assertions.ts";
import { hold } from "../../scenario/loads/concurrency.ts";
import { rate as rateLoad } from "../../scenario/loads/rates.ts";
import type { Answers } from "../answers.ts";
import type { ScenarioField } from "../source/format.ts";
import { type Call, call, type Source } from "../source/source.ts";
import { wizardTargetOf } from "../targets.ts";
import type { Asked } from "./goal.ts";

/** Questions and parts of scenarios that several goals share. */

const byUsers = (given: Answers): string | undefined =>
  given.users !== undefined && given.rate === undefined ? "users" : given.rate === undefined ? undefined : "rate";

/** Asks whether the load is a number of users or a rate. */
export const LOAD: Asked = {
  message: "How do requests arrive?",
  choices: () => [
    {
      value: "users",
      label: "from a number of users",
      hint: "each sends the next request when the last one is answered",
    },
    { value: "rate", label: "at a rate", hint: "requests per second, whether or not earlier ones are answered" },
  ],
  preset: () => "users",
  check: checkLoad,
  implied: byUsers,
};

function checkLoad(answer: string, _answers: Answers): string | undefined {
  return answer === "users" || answer === "rate" ? undefined : "must be one of users, rate";
}

/** Form of an amount of load. */
export interface AmountForm {
  /** The requirement on an answer, in words. */
  readonly rule: string;
  /** @param isValid checks a single amount */
  fits(answer: string, isValid: (amount: number) => boolean): boolean;
}

/** Reads the numbers of `1:8`, `1,2,4` or `16`. */
export function numbersOf(text = ""): number[] {
  return text.split(/[:,]/).map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
}

const ONE: AmountForm = {
  rule: "a number",
  fits: (answer, isValid) => numbersOf(answer).length === 1 && numbersOf(answer).every(isValid),
};

const isWhole = (amount: number): boolean => Number.isInteger(amount) && amount > 0;
const isRate = (amount: number): boolean => amount > 0 && amount < Number.POSITIVE_INFINITY;

/** Asks for a number of users. */
export function users(message: string, preset: Asked["preset"], form = ONE): Asked {
  return {
    message,
    preset,
    check: (answer) => {
      if (form.fits(answer, isWhole)) return undefined;
      const numbers = numbersOf(answer);
      if (!numbers.some(Number.isNaN) && !numbers.every(isWhole))
        return `must be ${numbers.length === 1 ? "a whole number" : "whole numbers"} of 1 or more`;
      return `must be ${form.rule} of users, such as ${preset({}, EMPTY_CONTEXT)}`;
    },
    isNeeded: ({ load }) => load === "users",
  };
}

/** Asks for a rate. */
export function rate(message: string, preset: Asked["preset"], form = ONE): Asked {
  return {
    message: `${message} (requests per second)`,
    preset,
    check: (answer) => {
      if (form.fits(answer, isRate)) return undefined;
      if (numbersOf(answer).some((perSec) => perSec <= 0)) return "must be above 0 requests per second";
      return `must be ${form.rule} of requests per second, such as ${preset({}, EMPTY_CONTEXT)}`;
    },
    isNeeded: ({ load }) => load === "rate",
  };
}

/** Presets of amounts do not depend on the surroundings. */
const EMPTY_CONTEXT = {} as never;

/** Asks for a duration. @param word another answer that is allowed, such as `none` @param example of a duration */
export function duration(message: string, preset: Asked["preset"], word?: string, example = "30 s"): Asked {
  const otherwise = word === undefined ? "" : `, or ${word}`;
  return {
    message: `${message} (such as ${example}${otherwise})`,
    preset,
    check: (answer) => {
      if (word !== undefined && answer === word) return undefined;
      const ns = parseDurationNs(answer);
      if (ns !== undefined && ns > 0) return undefined;
      return `must be a duration with its unit, such as ${nearestDuration(answer) ?? example}${otherwise}`;
    },
  };
}

const LATENCY_EXAMPLE = "50 ms";

/** The limit of p99 latency, which may be absent. */
export const P99_LIMIT = duration(
  "Which p99 latency must it stay below?",
  (answers) => (hasServer(answers) ? "none" : "50 ms"),
  "none",
  LATENCY_EXAMPLE,
);

/** Reports whether the target is a server with an address. */
export function hasServer(answers: Answers): boolean {
  return wizardTargetOf(answers)?.asks.includes("url") === true;
}

/** Reports whether the target's responses are streams of tokens. */
export function streams(answers: Answers): boolean {
  return wizardTargetOf(answers)?.isStreaming === true;
}

/** The limit of p99 time to first token, which may be absent. */
export const TTFT_LIMIT: Asked = {
  ...duration("Which p99 time to first token must it stay below?", () => "none", "none", LATENCY_EXAMPLE),
  isNeeded: streams,
};

/** Normalizes a duration to one number and one space before the unit. */
export function toDuration(text = ""): Duration {
  const ns = parseDurationNs(text);
  if (ns === undefined) throw new Error(`not a duration: ${text}`);
  const [, number, unit] = /^\s*([\d.]+)\s*([a-zµ]+)\s*$/.exec(text) ?? [];
  if (number === undefined) return `${nsToSec(ns)} s`;
  return `${number} ${unit === "µs" ? "us" : unit === "m" ? "min" : unit}` as Duration;
}

/** Returns the users or the rate, as answered. */
export function amountOf({ load, users = "", rate: perSec = "" }: Answers): string {
  return load === "rate" ? perSec : users;
}

/** Formats an amount: `16 users` or `100 requests per second`. */
export function describeAmount({ load }: Answers, amount: string): string {
  if (load === "rate") return `${amount} requests per second`;
  return `${amount} ${amount === "1" ? "user" : "users"}`;
}

/** Returns one steady load: a concurrency or a rate. */
export function steady(answers: Answers, extent: Readonly<Record<string, Source>> = {}): Call {
  return call(answers.load === "rate" ? { rate: rateLoad } : { hold }, Number(amountOf(answers)), extent);
}

/** Explains a steady load in a comment. */
export function explainArrivals({ load }: Answers): string {
  return load === "rate"
    ? "Requests are sent on time, whether or not earlier ones are answered."
    : "Each user sends the next request when the last one is answered.";
}

/** Returns `{ for: … }`, or nothing if the load is measured until it is stable. */
export function extentOf({ for: time }: Answers): Record<string, Source> {
  return time === undefined || time === "stable" ? {} : { for: toDuration(time) };
}

/** Returns the limits on times, as assertions. */
export function limitsOf(answers: Answers, isScheduled = answers.load === "rate"): Call[] {
  const { "p99-limit": latency = "none", "ttft-limit": firstToken = "none" } = answers;
  const metric = isScheduled ? "scheduledLatency" : "latency";
  return [
    ...(latency === "none" ? [] : [call({ p99 }, metric).with("below", toDuration(latency))]),
    ...(firstToken === "none" ? [] : [call({ p99 }, "timeToFirstToken").with("below", toDuration(firstToken))]),
  ];
}

/** Returns the assertions: the limits, and that no request fails. */
export function assertions(answers: Answers, isScheduled = answers.load === "rate"): ScenarioField {
  const limits = limitsOf(answers, isScheduled);
  const isExplained = isScheduled && (answers["p99-limit"] ?? "none") !== "none";
  return {
    name: "assert",
    value: [...limits, call({ errorRate }).with("is", 0)],
    comment: isExplained ? "scheduledLatency counts from the time when a request was due." : undefined,
  };
}
