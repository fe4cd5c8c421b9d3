import type { Builders, Schema } from "../../plan/schema.ts";

/** Returns the schema of a path. */
export function pathSchema(v: Builders): Schema<string> {
  return v.pipe(v.string(), v.nonEmpty("must name a file"));
}
