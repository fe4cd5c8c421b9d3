/** The form of inputs: a model's tensors, or payloads for a server with a JSON API. */
export type InputKind = "tensors" | "payloads";

/** The source of requests' data. */
export interface Inputs<I extends InputKind = InputKind> {
  readonly kind: "random" | "zero" | "json" | "prompts" | "payloads";
  readonly files: readonly string[];
  readonly options: object;
  /** Never set; it only carries the form to the scenario's type. */
  readonly form?: I;
}
