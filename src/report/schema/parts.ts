import * as v from "valibot";

/** What schemas of a report are built with. */
export interface Parts {
  /** Builds an object. Published schemas accept fields that a later version adds; tests reject fields without a schema. */
  readonly object: typeof v.object;
}

/** A number of things. */
export function count() {
  return v.pipe(v.number(), v.integer(), v.minValue(0));
}

/** A ratio, 0 or more. */
export function ratio() {
  return v.pipe(v.number(), v.minValue(0));
}
