/**
 * `closed`: keeps a number of requests in flight. `scheduled`: sends requests at due times, independent of responses. `traced`: the same,
 * and it brings the requests.
 */
export type LoadKind = "closed" | "scheduled" | "traced";

/** Where a load can stand: `anywhere`; in a `list` of loads but not in other loads; or only `alone`. */
export type LoadPlace = "anywhere" | "list" | "alone";

/**
 * A load. Its pacing determines which latencies assertions can refer to. `T` and `M` are the names of the targets that have loads of their own in it:
 * all of `T` must be targets, and all targets in `M`.
 */
export interface Load<S extends LoadKind = LoadKind, L extends LoadPlace = "anywhere", T = never, M = unknown> {
  /** Selects the entry in the table of builders. */
  readonly kind: string;
  /** How requests are sent. */
  readonly pacing: S;
  /** The numbers of the load: requests in flight, or requests per second. */
  readonly values: readonly number[];
  /** The options of the builder, not yet checked. */
  readonly options: object;
  /** Never set; it only carries where the load can stand. */
  readonly place?: L;
  /** Never set; they only carry which targets have loads of their own. */
  readonly targets?: T;
  readonly covers?: (name: M) => void;
}

/** A load that can be one of several in a list. */
export type PartLoad<S extends LoadKind = LoadKind> = Load<S, "anywhere" | "list">;

/** Loads that run one after the other, without a pause between them: one or more. */
export type LoadList<S extends LoadKind = LoadKind> = readonly PartLoad<S>[];

/** Returns the pacing of a load in another one. Untyped callers may pass anything, which the schema then rejects. */
export function pacingOf<S extends LoadKind>(load: { readonly pacing: S } | undefined): S {
  return load?.pacing as S;
}
