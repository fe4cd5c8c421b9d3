import * as v from "valibot";
import type { Schema } from "../../plan/schema.ts";

/** Returns the schema of a path. */
export function pathSchema(): Schema<string> {
  return v.pipe(v.string(), v.nonEmpty("must name a file"));
}
