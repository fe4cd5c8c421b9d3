import { sharedOptions } from "../../src/cli/options/shared-options.ts";

/** The flags of all reports that are written at the end of a run: those that `rampart report` writes again. */
export const REPORT_FLAGS: readonly string[] = sharedOptions("report")
  .filter(({ setting }) => setting?.startsWith("outputs.files.") === true)
  .map(({ name }) => `--${name}`);
