/** What the builders of inputs return. */

/** What inputs are: tensors of a model, or payloads of a server that takes JSON. */
export type InputKind = "tensors" | "payloads";

/** Where the data of requests comes from. */
export interface Inputs<I extends InputKind = InputKind> {
  readonly kind: "random" | "zero" | "json" | "prompts" | "payloads";
  readonly files: readonly string[];
  readonly options: object;
  /** Never set: it carries the sort to the scenario's type. */
  readonly sort?: I;
}
