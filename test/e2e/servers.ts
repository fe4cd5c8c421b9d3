import { startTriton } from "../servers/triton.ts";

/** The Triton of the suite: the one `run-all.ts` started, or one of its own. */
export interface TritonAddresses {
  readonly http: string;
  readonly grpc: string;
  stop(): Promise<void>;
}

/** Gives the Triton to test against. Rejects when it does not start. */
export async function openTriton(): Promise<TritonAddresses> {
  const http = process.env["RAMPART_TEST_TRITON_HTTP"];
  const grpc = process.env["RAMPART_TEST_TRITON_GRPC"];
  if (http !== undefined && grpc !== undefined) return { http, grpc, stop: async () => {} };
  const { httpPort, grpcPort, stop } = await startTriton();
  return { http: `127.0.0.1:${httpPort}`, grpc: `127.0.0.1:${grpcPort}`, stop };
}

/** Triton's own counts of a model's requests. */
export async function readServerCounts(http: string, model: string): Promise<{ success: number; fail: number }> {
  const response = await fetch(`http://${http}/v2/models/${model}/stats`);
  const { model_stats } = (await response.json()) as {
    model_stats: { inference_stats: { success: { count?: number }; fail: { count?: number } } }[];
  };
  let success = 0;
  let fail = 0;
  for (const { inference_stats } of model_stats) {
    success += inference_stats.success.count ?? 0;
    fail += inference_stats.fail.count ?? 0;
  }
  return { success, fail };
}

const LAG_MS = 30_000;
const POLL_MS = 50;

/** Triton's counts may lag behind its responses: waits until `isReached`, or gives what there is after a while. */
export async function waitForCounts(
  http: string,
  model: string,
  isReached: (counts: { success: number; fail: number }) => boolean,
): Promise<{ success: number; fail: number }> {
  const giveUpMs = Date.now() + LAG_MS;
  for (;;) {
    const counts = await readServerCounts(http, model);
    if (isReached(counts) || Date.now() > giveUpMs) return counts;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
