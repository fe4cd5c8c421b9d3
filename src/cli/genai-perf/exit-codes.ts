/** Exit codes of GenAI-Perf: `failed` as well when more requests failed than allowed, after the report on those that did not. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
