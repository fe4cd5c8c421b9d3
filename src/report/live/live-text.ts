/** Text of the live view. */

/** The state to show. */
export interface LiveState {
  /** For example `concurrency 4` or `warm-up`. */
  readonly what: string;
  readonly elapsedSec: number;
  readonly sentCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly cancelledCount: number;
  readonly outstanding: number;
  /** Undefined if a duration limits the run. */
  readonly requestCount: number | undefined;
  /** Rate over the last seconds. */
  readonly requestsPerSec: number;
  /** Responses of streams; undefined if answers are not streamed. */
  readonly chunksPerSec: number | undefined;
  /** 50th and 99th percentile over the last seconds; undefined if no request ended. */
  readonly latencyNs: readonly number[] | undefined;
  /** The same for the first chunk of an answer; undefined if answers are not streamed. */
  readonly firstChunkNs: readonly number[] | undefined;
  /** CPU time in cores. */
  readonly cpuRatio: number;
  readonly loopLagMaxNs: number;
}

/** Formats lines for a terminal. Their number is constant, and they fit into 80 characters unless numbers are long. */
export function formatLiveLines(state: LiveState): string[] {
  const { elapsedSec, what } = state;
  const seconds = Math.floor(elapsedSec);
  const clock = `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  const rest = [formatRates(state), formatTimes(state), formatClient(state)];
  return [`${clock}  ${what}: ${formatCounts(state)}`, ...rest.map((line) => `       ${line}`)];
}

/** Formats one line for a file. */
export function formatLiveLine(state: LiveState): string {
  const parts = [formatCounts(state), formatRates(state), formatTimes(state), formatClient(state)];
  return `rampart: ${Math.round(state.elapsedSec)} s: ${state.what}: ${parts.join("; ")}`;
}

function formatCounts(state: LiveState): string {
  const { completedCount, failedCount, cancelledCount, outstanding, requestCount } = state;
  const ended = completedCount + failedCount + cancelledCount;
  const of = requestCount === undefined ? "" : ` of ${formatInteger(requestCount)} (${percent(ended, requestCount)} %)`;
  const cancelled = cancelledCount === 0 ? "" : `, cancelled ${formatInteger(cancelledCount)}`;
  return `completed ${formatInteger(completedCount)}${of}, failed ${formatInteger(failedCount)}${cancelled}, outstanding ${formatInteger(outstanding)}`;
}

function formatRates({ sentCount, requestsPerSec, chunksPerSec }: LiveState): string {
  const chunks = chunksPerSec === undefined ? "" : `, ${formatRate(chunksPerSec)} chunks/s`;
  return `${formatRate(requestsPerSec)} requests/s${chunks}, sent ${formatInteger(sentCount)}`;
}

function formatTimes({ firstChunkNs, latencyNs }: LiveState): string {
  const parts: string[] = [];
  if (firstChunkNs !== undefined) parts.push(`first chunk ${formatPercentiles(firstChunkNs)}`);
  if (latencyNs !== undefined) parts.push(`latency ${formatPercentiles(latencyNs)}`);
  return parts.length === 0 ? "nothing was answered in the last seconds" : parts.join(", ");
}

function formatClient({ cpuRatio, loopLagMaxNs }: LiveState): string {
  return `client: ${Math.round(cpuRatio * 100)} % of a core, event loop late by ${formatMs(loopLagMaxNs)} at most`;
}

function formatPercentiles([p50, p99]: readonly number[]): string {
  return `p50 ${formatMs(p50 ?? Number.NaN)} p99 ${formatMs(p99 ?? Number.NaN)}`;
}

function formatMs(durationNs: number): string {
  const durationMs = durationNs / 1e6;
  return `${durationMs < 10 ? durationMs.toFixed(2) : durationMs < 100 ? durationMs.toFixed(1) : formatInteger(Math.round(durationMs))} ms`;
}

function formatRate(perSec: number): string {
  return perSec < 100 ? perSec.toFixed(1) : formatInteger(Math.round(perSec));
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.min(100, Math.floor((100 * part) / whole));
}

function formatInteger(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
