import { inferPerSec } from "../../measure/metrics.ts";
import { messageOf } from "../../plan/problem.ts";
import { formatCount } from "../../plan/units.ts";
import { defineScenario } from "../../scenario/define.ts";
import { hold } from "../../scenario/loads/levels.ts";
import { embedded } from "../../scenario/targets/embedded.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import { executePlan } from "../execute.ts";
import { type AskedLoad, type Finding, impossible, ok, unknown, warning } from "./finding.ts";
import type { Host } from "./host.ts";

/** Requests in flight when the user asks for no concurrency, and at most. */
const CONCURRENCY = 16;
const MOST_CONCURRENCY = 256;
/** Client and embedded server share the cores. A client alone can send at about this multiple of their rate. */
const ALONE_FACTOR = 2;
/** Above this share of the highest rate, sends become late. */
const SAFE_RATIO = 0.5;

/** Measures for a second how many requests per second this host sends to the embedded target. */
export async function checkOwnRate(_host: Host, { concurrency, ratePerSec, protocol }: AskedLoad): Promise<Finding> {
  const inFlight = Math.min(concurrency ?? CONCURRENCY, MOST_CONCURRENCY);
  const scenario = defineScenario({
    name: "self-test",
    target: embedded({ protocol }),
    load: hold(inFlight, { for: "1 s" }),
  });
  const silent = { out: () => {}, err: () => {}, onInterrupt: () => () => {}, loadApi: async () => ({}) };
  let perSec: number;
  try {
    const run = await executePlan(toPlan(scenario, process.cwd()), silent, { onInterrupt: () => {} });
    const [level] = run.result.levels;
    if (level === undefined || run.result.failedCount > 0)
      return unknown(
        `${run.result.failedCount} requests to the embedded target failed: ${run.result.failures[0]?.example}`,
      );
    perSec = Math.round(inferPerSec(level.window, 1));
  } catch (error) {
    return unknown(`the embedded target cannot be measured: ${messageOf(error)}`);
  }
  const values = { requestsPerSec: perSec, concurrency: inFlight, protocol };
  const said = `${formatCount(perSec)} requests per second to the embedded target, which shares the cores (${protocol}, ${inFlight} in flight)`;
  const { status, fix } = judgeRate(perSec, ratePerSec);
  if (status === "problem") return impossible(`${said}; ${ratePerSec} were asked for`, fix, values);
  return status === "warning" ? warning(`${said}; ${ratePerSec} were asked for`, fix, values) : ok(said, values);
}

/** Judges an asked rate against what was measured with client and server on the same cores. */
export function judgeRate(
  measuredPerSec: number,
  askedPerSec = 0,
): { readonly status: "ok" | "warning" | "problem"; readonly fix: string } {
  const fix = "Use a host with more or faster cores, or several hosts";
  if (askedPerSec > measuredPerSec * ALONE_FACTOR) return { status: "problem", fix };
  return { status: askedPerSec > measuredPerSec * SAFE_RATIO ? "warning" : "ok", fix };
}
