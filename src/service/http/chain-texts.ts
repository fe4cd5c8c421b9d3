import { REQUEST_PATH } from "../../transport/request.ts";
import type { BodyPlan } from "./requests-plan.ts";

/** Placeholders for values in a chain's requests: in path, headers and body. */

/** A value that is inserted into requests. */
export type ChainValue = string | number | boolean;

/** A placeholder in a text: `{{token}}`. */
const PLACE = /\{\{\s*([\w-]+)\s*\}\}/g;
/** A JSON string that consists of a single placeholder, and is not a key. */
const JSON_PLACE = /"\{\{\s*([\w-]+)\s*\}\}"(?!\s*:)/g;

/** Returns the names of the values that a text needs. */
export function placesIn(text: string): string[] {
  return [...text.matchAll(PLACE)].map(([, name = ""]) => name);
}

/** Returns the texts of a body that may contain placeholders. Files and bytes are sent unchanged. */
export function textsIn(body: BodyPlan): string[] {
  if (body.form === "multipart") return body.parts.flatMap(({ value }) => (value.form === "text" ? [value.text] : []));
  return body.form === "json" || body.form === "text" ? [body.text] : [];
}

/** Returns the value of a name in the form that a request needs. @param write formats the value for its place */
export type Put = (name: string, write: (value: ChainValue) => string) => string;

/** Inserts values into a text unchanged. */
export function fillText(text: string, put: Put): string {
  return text.replace(PLACE, (_, name: string) => put(name, String));
}

/** Inserts values into JSON: a string that is only `{{name}}` becomes the value, with its type. */
export function fillJson(text: string, put: Put): string {
  const inText = (value: ChainValue): string => JSON.stringify(String(value)).slice(1, -1);
  const filled = text.replace(JSON_PLACE, (_, name: string) => put(name, (value) => JSON.stringify(value)));
  return filled.replace(PLACE, (_, name: string) => put(name, inText));
}

/**
 * Inserts values into a path. A value at its beginning is a path, or a URL whose path is used; other values are encoded as
 * parts of a path.
 */
export function fillPath(path: string, put: Put): string {
  return path.replace(PLACE, (_, name: string, offset: number) =>
    put(name, (value) => (offset === 0 ? (toPath(String(value)) ?? "/") : encodePart(value))),
  );
}

/** Encodes a value as a part of a path. Half of a surrogate pair has no encoding. */
export function encodePart(value: ChainValue): string {
  return encodeURIComponent(String(value).toWellFormed());
}

/** Returns the path of a path or URL; undefined for any other text. */
export function toPath(value: string): string | undefined {
  const path = /^https?:\/\/[^/?#]*([^#]*)/i.exec(value)?.[1] ?? value.replace(/#.*/, "");
  const whole = path === "" || path.startsWith("?") ? `/${path}` : path;
  return REQUEST_PATH.test(whole) ? whole : undefined;
}
