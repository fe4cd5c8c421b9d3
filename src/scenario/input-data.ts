/** The form of inputs: a model's tensors, payloads for a server with a JSON API, files of any kind, or chains of HTTP requests. */
export type InputKind = "tensors" | "payloads" | "files" | "chains";

/** The source of requests' data. */
export interface Inputs<I extends InputKind = InputKind> {
  /** Selects the entry in the table of builders. */
  readonly kind: string;
  /** Paths of files or of a folder; empty for inputs without files. */
  readonly files: readonly string[];
  /** The options of the builder, not yet checked. */
  readonly options: object;
  /** Never set; only carries the form to the scenario's type. */
  readonly form?: I;
}
