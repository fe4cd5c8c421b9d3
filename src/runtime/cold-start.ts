/**
 * Environment variable for tests that start many runs and mocks and judge no times: with the value 1, nothing is warmed up, and no
 * thread changes its priority. On cores that other tests use all the time, a thread of low priority waits for seconds, and the
 * garbage collector with it.
 */
export const COLD = "RAMPART_TEST_COLD";

/** Reports whether code should not be JIT-compiled before it is measured, and threads should keep their priorities. */
export function startsCold(): boolean {
  return process.env[COLD] === "1";
}
