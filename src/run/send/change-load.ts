import type { Drive } from "../../load/drive.ts";
import type { Driver } from "./driver.ts";

/**
 * Prepares another load while the current one continues: opens its connections. Returns a function that changes to it at once, with the
 * number of requests it may send. Requests in flight end under the new load. Loads that assign sequences, or lanes that wait for their
 * responses, wait for them first.
 */
export async function prepareChange(driver: Driver, drive: Drive): Promise<(quota: number) => void> {
  await driver.prepare(drive);
  const { closedLoad, lanes } = driver;
  const { createNextLoad } = await import("./scheduled-load.ts");
  const { load, begin } = await createNextLoad(driver, lanes, drive, closedLoad);
  const isSame = load === closedLoad && load === driver.load;
  if (!isSame && (driver.sequences !== undefined || driver.isSync)) await driver.stop();
  return (quota) => {
    if (driver.admits(drive)) driver.replace(load, quota, begin);
  };
}
