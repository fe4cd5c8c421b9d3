import { messageOf, RunError } from "../../plan/problem.ts";
import type { TracePlan } from "../../plan/telemetry.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { Ask, ServiceFront } from "../../service/service.ts";
import { describeTrace, setTrace, toTraceValues } from "../../telemetry/trace-settings.ts";

/** Timeout for restoring, so that a dead server cannot delay the end of a run. */
const RESTORE_TIMEOUT_MS = 5000;

/**
 * Applies the plan's trace settings.
 * @returns restores the previous settings within 5 s; reports a failure to the observer
 * @throws RunError with the settings that the server rejects; nothing is changed then
 */
export async function setServerTrace(
  trace: TracePlan,
  front: ServiceFront,
  ask: Ask,
  observer: RunObserver,
): Promise<() => Promise<void>> {
  if (front.traceQueries === undefined)
    throw new RunError("unsupported", "this kind of server has no trace settings", [
      "Leave out ",
      describeTrace(toTraceValues(trace)),
      ".",
    ]);
  const queries = await front.traceQueries();
  const asked = toTraceValues(trace);
  const explain = (error: unknown): never => {
    if (!(error instanceof RunError) || error.code !== "refused") throw error;
    throw error.reword(error.text, ["This server offers no trace settings: leave out ", describeTrace(asked), "."]);
  };
  const restore = await setTrace(asked, {
    read: async () => queries.parse(await ask(queries.read(), "the server's trace settings").catch(explain)),
    write: async (values) => queries.parse(await ask(queries.write(values), "")),
  });
  return async () => {
    try {
      await withinTime(restore());
    } catch (error) {
      observer.onWarning?.({ kind: "trace-kept", settings: describeTrace(asked), reason: messageOf(error) });
    }
  };
}

async function withinTime(done: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the server does not answer")), RESTORE_TIMEOUT_MS);
  try {
    await Promise.race([done, promise]);
  } finally {
    clearTimeout(timer);
  }
}
