/** Environment variable for tests that start many runs and mocks and judge no times: with the value 1, nothing is warmed up. */
export const COLD = "RAMPART_TEST_COLD";

/** Reports whether code should not be JIT-compiled before it is measured. */
export function startsCold(): boolean {
  return process.env[COLD] === "1";
}
