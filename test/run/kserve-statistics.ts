/** Nanoseconds the server says each success took, by stage. */
export const STAGE_NS = { success: 100_000, queue: 10_000, input: 5_000, infer: 50_000, output: 5_000 } as const;

/** What the server tells of one version of a model. */
export function statisticsOf(
  name: string,
  version: string,
  count: number,
  inferenceCount: number,
  failCount: number,
): object {
  const stage = (ns: number): object => ({ count, ns: count * ns });
  return {
    name,
    version,
    last_inference: 0,
    inference_count: inferenceCount,
    execution_count: count,
    inference_stats: {
      success: stage(STAGE_NS.success),
      fail: { count: failCount, ns: 0 },
      queue: stage(STAGE_NS.queue),
      compute_input: stage(STAGE_NS.input),
      compute_infer: stage(STAGE_NS.infer),
      compute_output: stage(STAGE_NS.output),
      cache_hit: { count: 0, ns: 0 },
      cache_miss: { count: 0, ns: 0 },
    },
  };
}
