import type { RunResult } from "../result/run-result.ts";

/** What a report says of requests that were sent again; a sentence without its full stop, undefined when there were none. */
export function describeResends({ resendCount }: Pick<RunResult, "resendCount">): string | undefined {
  if (resendCount === 0) return undefined;
  const [requests, them] =
    resendCount === 1 ? ["1 request was", "it"] : [`${resendCount.toLocaleString("en-US")} requests were`, "them"];
  return `${requests} sent again, because the server had ended the connection without processing ${them}; the counts have ${them} once, and the time runs from the first sending`;
}
