/** `closed`: keeps a number of requests in flight. `scheduled`: sends requests at due times, independent of responses. */
export type LoadKind = "closed" | "scheduled";

/** A load. Its pacing determines which latencies assertions can refer to. */
export interface Load<S extends LoadKind = LoadKind> {
  /** Selects the entry in the table of builders. */
  readonly kind: string;
  /** How requests are sent. */
  readonly pacing: S;
  /** The numbers of the load: requests in flight, or requests per second. */
  readonly values: readonly number[];
  /** The options of the builder, not yet checked. */
  readonly options: object;
}

/**
 * Loads that run one after the other, without a pause between them: one or more. `[]` does not compile; a list that code makes does, and is
 * refused when it turns out to be empty.
 */
export type LoadList<S extends LoadKind = LoadKind> =
  | readonly [Load<S>, ...Load<S>[]]
  // No load can be looked for in the type of `[]`, which is a list of nothing.
  | (readonly Load<S>[] & { readonly indexOf: (load: Load<never>) => number });

/** Returns the pacing of a load in another one. Untyped callers may pass anything, which the schema then rejects. */
export function pacingOf<S extends LoadKind>(load: { readonly pacing: S } | undefined): S {
  return load?.pacing as S;
}
