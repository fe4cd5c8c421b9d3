/** For tests that start many runs and mocks and judge no time of theirs: with 1 in this environment variable, nothing is warmed up. */
export const COLD = "RAMPART_TEST_COLD";

/** Reports whether code is not to be JIT-compiled before it is measured. */
export function startsCold(): boolean {
  return process.env[COLD] === "1";
}
