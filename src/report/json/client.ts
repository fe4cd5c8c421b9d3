import { clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { saturationReason } from "../../measure/metrics.ts";
import { nsToMs, nsToUs } from "../../plan/units.ts";
import type { ClientJson } from "../schema/level.ts";

/** Converts the cost of measuring to JSON: whether the client was the limit instead of the server, and how late it was. */
export function toClientJson(window: Measurement): ClientJson {
  const { cpuRatio, coreWaitRatio, loopLagMaxNs, loopLagMeanNs, loopLagP99Ns } = window.health;
  const times = reportedTimes(window);
  const lag = clientLagOf(window);
  return {
    sendMeanUs: nsToUs(window.sendMeanNs),
    receiveMeanUs: nsToUs(window.receiveMeanNs),
    overheadRatio: window.overheadPct / 100,
    cpuRatio,
    coreWaitRatio: coreWaitRatio ?? null,
    loopLagMaxMs: nsToMs(loopLagMaxNs),
    loopLagMeanMs: nsToMs(loopLagMeanNs),
    loopLagP99Ms: loopLagP99Ns === undefined ? null : nsToMs(loopLagP99Ns),
    lagWarning: explainLag(lag, times) ?? null,
    saturation: saturationReason(window) ?? null,
  };
}
