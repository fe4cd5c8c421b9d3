/** The version of Rampart's JSON report. */
export const REPORT_VERSION = 3;
