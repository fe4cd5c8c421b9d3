import type { ModelInfo } from "./service.ts";
import type { Datatype } from "./tensor.ts";

/** Requirements on a response, besides being valid in itself. */
export interface ExpectedResponse {
  readonly model: string;
  /** The requested outputs, by name; empty if they are unknown, so that any outputs are accepted. */
  readonly outputs: ReadonlyMap<string, Datatype>;
  /** Whether each response must have all outputs. Responses of a stream may have some of them. */
  readonly isWhole: boolean;
}

/** Returns the requirements on a response of a model. @param isStreamed whether a request may have several responses */
export function expectResponse({ name, outputs }: ModelInfo, isStreamed: boolean): ExpectedResponse {
  const asked = new Map(outputs.map((output) => [output.name, output.datatype]));
  return { model: name, outputs: asked, isWhole: !isStreamed };
}

/**
 * Explains why a response is not the expected one; undefined if it is.
 * @param model model of the response; empty or absent: not stated @param outputs its outputs, each valid in itself
 */
export function explainUnexpected(
  { model: asked, outputs: expected, isWhole }: ExpectedResponse,
  model: unknown,
  outputs: readonly { readonly name?: unknown; readonly datatype?: unknown }[],
): string | undefined {
  if (typeof model === "string" && model !== "" && model !== asked)
    return `the response is from model '${model}', not from '${asked}'`;
  if (expected.size === 0) return undefined;
  for (const { name, datatype } of outputs) {
    const wanted = expected.get(String(name));
    if (wanted === undefined) return `the response has the output '${String(name)}', which was not asked for`;
    if (wanted !== datatype) return `output '${String(name)}' has datatype ${String(datatype)}, not ${wanted}`;
  }
  if (!isWhole) return undefined;
  const names = new Set(outputs.map(({ name }) => name));
  const missing = [...expected.keys()].find((name) => !names.has(name));
  return missing === undefined ? undefined : `the response has no output '${missing}'`;
}
