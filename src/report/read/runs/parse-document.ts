import * as v from "valibot";
import { userError } from "../../../plan/problem.ts";

/** Checks the part of a report that is read. @throws UserError naming the file and the place */
export function parseDocument<S extends v.GenericSchema>(schema: S, document: unknown, path: string): v.InferOutput<S> {
  const result = v.safeParse(schema, document);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = v.getDotPath(issue);
  const at = place === null ? path : `${path}, ${place}`;
  const message = issue.received === "undefined" ? "is missing" : `has a wrong value: ${issue.message}`;
  throw userError("invalid-value", at, message, "Give a report as the tool wrote it.");
}
