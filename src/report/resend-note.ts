import type { RunResult } from "../result/run-result.ts";

type Counts = Pick<RunResult, "resendCount" | "sentCount">;

/** Above this part of the requests, Rampart's own reports warn about requests that were sent again. */
const MANY_RESENT = 0.001;

/** Describes the resent requests in a sentence without its full stop; undefined without any. */
export function describeResends({ resendCount }: Pick<Counts, "resendCount">): string | undefined {
  if (resendCount === 0) return undefined;
  const [requests, them] =
    resendCount === 1 ? ["1 request was", "it"] : [`${resendCount.toLocaleString("en-US")} requests were`, "them"];
  return `${requests} sent again, because the server closed the kept connection before it answered ${them}; each counts once, and its time runs from the first send`;
}

/** Describes the resent requests if they are more than 0.1 % of all; otherwise undefined. */
export function warnOfResends(counts: Counts): string | undefined {
  return counts.resendCount > MANY_RESENT * counts.sentCount ? describeResends(counts) : undefined;
}
