import type { RunProgress } from "../../result/observer.ts";
import type { Driver } from "../send/driver.ts";

/** Returns a live view of a driver's progress. */
export function progressOf(driver: Driver): RunProgress {
  return {
    get sentCount() {
      return driver.sentCount;
    },
    get completedCount() {
      return driver.ended.completedCount;
    },
    get failedCount() {
      return driver.ended.failedCount;
    },
    get cancelledCount() {
      return driver.ended.cancelledCount;
    },
    get outstanding() {
      return driver.outstanding;
    },
    get openResponses() {
      let count = 0;
      for (const { isActive, messageCount } of driver.client.calls) if (isActive) count += messageCount;
      return count;
    },
    // Not `driver.drain`, which would also judge the deferred responses.
    drainRecords: () => driver.ended.drainRecords(),
  };
}
