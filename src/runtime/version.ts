/** The version of this build, which reports name. */
export const VERSION = "0.1.0";
