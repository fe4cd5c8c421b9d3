import { saturationReason } from "../../measure/metrics.ts";
import type { WindowResult } from "../../measure/window.ts";

/** What measuring cost this client, as plain data: whether it, not the server, was the limit. */
export function toClientJson(window: WindowResult): object {
  return {
    sendMeanUs: window.sendMeanNs / 1000,
    receiveMeanUs: window.receiveMeanNs / 1000,
    overheadPct: window.overheadPct,
    cpuRatio: window.health.cpuRatio,
    loopLagMaxMs: window.health.loopLagMaxNs / 1e6,
    loopLagMeanMs: window.health.loopLagMeanNs / 1e6,
    saturation: saturationReason(window) ?? null,
  };
}
