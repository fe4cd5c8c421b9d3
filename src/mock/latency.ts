import type { MockLatencyPlan } from "../plan/mock.ts";
import { nsToMs, parseDurationNs } from "../plan/units.ts";

/** Creates a function that draws latencies in milliseconds. @param random uniform numbers in [0, 1) */
export function createLatency(plan: MockLatencyPlan, random: () => number): () => number {
  switch (plan.kind) {
    case "constant":
      return () => plan.ms;
    case "uniform":
      return () => plan.minMs + (plan.maxMs - plan.minMs) * random();
    case "normal":
      return () => Math.max(0, plan.meanMs + plan.deviationMs * drawNormal(random));
    case "exponential":
      return () => -Math.log(1 - random()) * plan.meanMs;
  }
}

/** Draws a standard normal number (Box and Muller). */
function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const MAX_MS = 600_000; // 10 min

/** Parses `5ms`, `uniform:1ms:9ms`, `normal:5ms:1ms` or `exponential:5ms`, up to 10 min. Returns undefined for any other text. */
export function parseLatency(text: string): MockLatencyPlan | undefined {
  const [name = "", ...rest] = text.trim().split(":");
  const numbers = rest.map(toMs);
  if (numbers.some((value) => value === undefined)) return undefined;
  const [a, b] = numbers as number[];
  if (rest.length === 0) {
    const ms = toMs(name);
    return ms === undefined ? undefined : { kind: "constant", ms };
  }
  if (name === "constant" && rest.length === 1) return { kind: "constant", ms: a as number };
  if (name === "uniform" && rest.length === 2 && (a as number) > (b as number)) return undefined;
  if (name === "uniform" && rest.length === 2) return { kind: "uniform", minMs: a as number, maxMs: b as number };
  if (name === "normal" && rest.length === 2) return { kind: "normal", meanMs: a as number, deviationMs: b as number };
  return name === "exponential" && rest.length === 1 ? { kind: "exponential", meanMs: a as number } : undefined;
}

function toMs(text: string): number | undefined {
  const ns = parseDurationNs(text);
  return ns === undefined || nsToMs(ns) > MAX_MS ? undefined : nsToMs(ns);
}
