import { fieldOf } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { membersOf } from "./mix.ts";

/** Returns all strings in a plan that may be paths of input files. */
export function inputFilesOf({ target, load, inputs, measurement }: Plan): string[] {
  const parts = [{ target, inputs, tokens: measurement.tokens }, ...membersOf(target)];
  const texts = parts.flatMap((part) => [fieldOf(part.target, "tls"), part.inputs, part.tokens]);
  return textsIn([texts, load]);
}

/** Returns all strings in plain data. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
