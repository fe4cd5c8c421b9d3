import { clientLagOf, explainLag, judgeLag, reportedTimes } from "../../measure/client-lag.ts";
import { saturationReason } from "../../measure/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import type { WindowResult } from "../../measure/window.ts";

/**
 * Converts the cost of measuring to JSON: whether the client was the limit instead of the server, and which figures its lag affects.
 * @param tokens of the window's requests; absent when none are measured
 * @param isStreamed whether their answers were streamed
 */
export function toClientJson(window: WindowResult, tokens?: TokenColumns, isStreamed = false): object {
  const { cpuRatio, coreWaitRatio, loopLagMaxNs, loopLagMeanNs, loopLagP99Ns } = window.health;
  const times = reportedTimes(window, tokens, isStreamed);
  const lag = clientLagOf(window);
  return {
    sendMeanUs: window.sendMeanNs / 1000,
    receiveMeanUs: window.receiveMeanNs / 1000,
    overheadPct: window.overheadPct,
    cpuRatio,
    coreWaitRatio: coreWaitRatio ?? null,
    loopLagMaxMs: loopLagMaxNs / 1e6,
    loopLagMeanMs: loopLagMeanNs / 1e6,
    loopLagP99Ms: loopLagP99Ns === undefined ? null : loopLagP99Ns / 1e6,
    lagBias: judgeLag(lag, times).map(({ figure, statistic, reportedNs, biasNs }) => ({
      figure,
      statistic,
      reportedMs: reportedNs / 1e6,
      biasMs: biasNs / 1e6,
    })),
    lagWarning: explainLag(lag, times) ?? null,
    saturation: saturationReason(window) ?? null,
  };
}
