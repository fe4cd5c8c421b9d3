import type { RunProgress } from "../../result/observer.ts";
import type { Driver } from "../send/driver.ts";

/** The state of a driver's run, for whoever looks on. */
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
    // Not the driver's own way of it, which also looks into the answers that wait: they are to wait on.
    handOver: () => driver.ended.handOver(),
  };
}
