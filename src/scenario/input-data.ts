/** The form of inputs: a model's tensors, payloads for a server with a JSON API, or files of any kind. */
export type InputKind = "tensors" | "payloads" | "files";

/** The source of requests' data. */
export interface Inputs<I extends InputKind = InputKind> {
  readonly kind: "random" | "zero" | "json" | "prompts" | "payloads" | "files" | "dir" | "generate" | "trace";
  readonly files: readonly string[];
  readonly options: object;
  /** Never set; it only carries the form to the scenario's type. */
  readonly form?: I;
}
