/**
 * `closed`: keeps a number of requests in flight. `scheduled`: sends requests at due times, independently of responses. `traced`: like
 * `scheduled`, but the load contains the requests.
 */
export type LoadKind = "closed" | "scheduled" | "traced";

/** Allowed place of a load: `anywhere`; in a `list` of loads but not in other loads; or only `alone`. */
export type LoadPlace = "anywhere" | "list" | "alone";

/**
 * A load. Its pacing determines which latencies assertions can refer to. `T` and `M` are the names of the targets with separate loads in
 * it: each name in `T` must be a target, and each target must be in `M`.
 */
export interface Load<S extends LoadKind = LoadKind, L extends LoadPlace = "anywhere", T = never, M = unknown> {
  /** Selects the entry in the table of builders. */
  readonly kind: string;
  /** Pacing of requests. */
  readonly pacing: S;
  /** The numbers of the load: requests in flight, or requests per second. */
  readonly values: readonly number[];
  /** The options of the builder, not yet checked. */
  readonly options: object;
  /** Never set; only carries the allowed place of the load in the type. */
  readonly place?: L;
  /** Never set; only carries the targets with separate loads in the type. */
  readonly targets?: T;
  readonly covers?: (name: M) => void;
}

/** A load that may be part of a list. */
export type PartLoad<S extends LoadKind = LoadKind> = Load<S, "anywhere" | "list">;

/** One or more loads that run one after another, without a pause between them. */
export type LoadList<S extends LoadKind = LoadKind> = readonly PartLoad<S>[];

/** Returns the pacing of a load inside another one. Untyped callers may pass anything, which the schema then rejects. */
export function pacingOf<S extends LoadKind>(load: { readonly pacing: S } | undefined): S {
  return load?.pacing as S;
}
