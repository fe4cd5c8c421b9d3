/** The version of this build, as shown in reports. */
export const VERSION = "0.1.0";
