import type { RunResult } from "../result/run-result.ts";

/** Describes the resent requests in a sentence without its full stop; undefined without any. */
export function describeResends({ resendCount }: Pick<RunResult, "resendCount">): string | undefined {
  if (resendCount === 0) return undefined;
  const [requests, them] =
    resendCount === 1 ? ["1 request was", "it"] : [`${resendCount.toLocaleString("en-US")} requests were`, "them"];
  return `${requests} sent again, because the server had ended the connection without processing ${them}; each counts once, and its time runs from the first sending`;
}
