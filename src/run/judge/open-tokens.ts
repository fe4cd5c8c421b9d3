import { LAST_TOTALS_WAIT_MS, type RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { SpareThreads, TokenThread } from "../../measure/tokens/token-link.ts";
import type { Plan } from "../../plan/plan.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import { GroupedTokens } from "../groups/grouped-tokens.ts";
import type { RequestGroups } from "../groups/request-groups.ts";

/** The threads that measure a run's tokens. */
export interface OpenTokens {
  /** Returns the meter for the run. @param groups groups of requests that are measured separately; undefined: no groups */
  measure(groups: RequestGroups | undefined): Promise<RunTokens | undefined>;
  close(): Promise<void>;
}

/**
 * Starts a thread for each target whose tokens are measured, because each target has its own tokenizer.
 * @param plans plans of the members of a mix, or the run's only plan @param spare threads that were started before
 * @throws RunError or UserError when a tokenizer cannot be loaded
 */
export async function openTokens(plans: readonly Plan[], spare: SpareThreads): Promise<OpenTokens> {
  const settled = await Promise.allSettled(
    plans.map(async ({ measurement: { tokens } }) => tokens && (await spare.take(tokens))),
  );
  const threads = settled.map((one) => (one.status === "fulfilled" ? one.value : undefined));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await closeAll(threads);
    throw failed.reason;
  }
  return {
    measure: async (groups) => {
      if (groups === undefined) return threads[0]?.link;
      const links = plans.map((plan, index) => ({ plan, link: threads[index]?.link }));
      return new GroupedTokens(groups, links);
    },
    close: () => closeAll(threads),
  };
}

async function closeAll(threads: readonly (TokenThread | undefined)[]): Promise<void> {
  await Promise.all(
    threads.map(async (thread) => {
      if (thread === undefined) return;
      await sleepUnless(LAST_TOTALS_WAIT_MS, thread.link.lastTotals);
      await thread.close();
    }),
  );
}
