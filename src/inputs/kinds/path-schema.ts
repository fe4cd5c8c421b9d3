import type { Builders, Schema } from "../../plan/schema.ts";

/** The path of a file or folder. */
export function pathSchema(v: Builders): Schema<string> {
  return v.pipe(v.string(), v.nonEmpty("must name a file"));
}
