/** Which values of a metric are better. */
export type Direction = "lower" | "higher";
