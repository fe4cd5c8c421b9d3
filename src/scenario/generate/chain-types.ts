import type { FileBody, MultipartBody, RequestBody } from "../../inputs/request-bodies.ts";
import type { HttpMethod } from "../../transport/request.ts";
import type { DurationSpread } from "../fields.ts";

/** Place of a value in a response: a JMESPath expression over its JSON, a header, or a cookie that it sets. */
export type ChainExtract = string | { readonly header: string } | { readonly cookie: string };

/** A request of a chain. Path, headers and body can contain values of earlier responses: `{{token}}`. */
export interface ChainCall {
  /** Name in the report: the value of the tag `call`. Default: the number of the call, from 1. */
  readonly name?: string;
  /** Method. Default: `"POST"` with a body, otherwise `"GET"`. */
  readonly method?: HttpMethod;
  /** Path and query, with the leading slash; or a value that is a path or URL. Default: the target's. */
  readonly path?: string;
  /** Headers that replace the target's headers of the same name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, as in `http(…)`. In JSON, a text that is only `{{id}}` becomes the value itself, such as a number. Default: none. */
  readonly body?: RequestBody;
  /** Values to extract from the response, by name: `{ token: "access_token", job: { header: "Location" } }`. Default: none. */
  readonly extract?: Readonly<Record<string, ChainExtract>>;
  /**
   * True: each user sends it once, and keeps its values for all later chains; with `sessionRate`, each entry of `users` does. Default:
   * false; it is sent in each chain.
   */
  readonly once?: boolean;
  /** Time between the response and the user's next request. Default: none. */
  readonly thinkTime?: DurationSpread;
}

// These types find a value that a call needs and that no earlier call extracts: `{{tokn}}`. Texts that are not literal are checked at run
// time.

/** A text without spaces around it. */
type Trim<T extends string> = T extends ` ${infer R}` ? Trim<R> : T extends `${infer R} ` ? Trim<R> : T;

/** Characters that names of values cannot contain. */
type Other =
  | " "
  | "#"
  | "."
  | ","
  | ":"
  | ";"
  | "/"
  | "|"
  | "$"
  | "@"
  | "%"
  | "&"
  | "!"
  | "?"
  | "="
  | "+"
  | "*"
  | "<"
  | ">";
type Bracket = "(" | ")" | "[" | "]" | "{" | "}" | '"' | "'" | "`" | "\\" | "^" | "~" | "\n";

/** Content of double braces that is not a name, for example in a template of the server. */
type NoName = "" | `${string}${Other | Bracket}${string}`;

/** The names of the values in a text. */
type PlacesIn<T> = T extends `${string}{{${infer Name}}}${infer Rest}`
  ? Exclude<Trim<Name>, NoName> | PlacesIn<Rest>
  : never;

/** The literal texts of a body. Lists and objects of any length, such as those of a wider type, are left out. */
type TextsIn<B> = B extends string
  ? B
  : B extends Uint8Array | FileBody | MultipartBody
    ? never
    : B extends readonly unknown[]
      ? number extends B["length"]
        ? never
        : TextsIn<B[number]>
      : B extends object
        ? string extends keyof B
          ? never
          : { [K in keyof B]: TextsIn<B[K]> }[keyof B]
        : never;

/** The given field, or a message for the compiler to show. */
type Checked<F, Needed, Known> = [Exclude<Needed, Known>] extends [never]
  ? F
  : { readonly "no call before extracts": Exclude<Needed, Known> };

/** The type that a call must have, given the known values. Unknown fields are mistakes too. */
type CheckedCall<T, Known> = {
  readonly [F in keyof T]: F extends "path"
    ? Checked<T[F], PlacesIn<T[F]>, Known>
    : F extends "headers"
      ? { readonly [H in keyof T[F]]: Checked<T[F][H], PlacesIn<T[F][H]>, Known> }
      : F extends "body"
        ? Checked<T[F], PlacesIn<TextsIn<T[F]>>, Known>
        : F extends keyof ChainCall
          ? T[F]
          : never;
};

type ExtractedBy<T> = T extends { readonly extract: infer X } ? keyof X : never;

/** The calls of a chain, each checked with the values that earlier calls extract. `Known` are the values of the users. */
export type CheckedCalls<S extends readonly unknown[], Known = never> = S extends readonly [infer First, ...infer Rest]
  ? readonly [CheckedCall<First, Known>, ...CheckedCalls<Rest, Known | ExtractedBy<First>>]
  : S;
