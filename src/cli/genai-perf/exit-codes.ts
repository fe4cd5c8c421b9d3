/**
 * Exit codes of genai-perf. `failed` includes runs in which more requests failed than allowed; their report on the other requests is still
 * written.
 */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
