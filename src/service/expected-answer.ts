import type { ModelInfo } from "./service.ts";
import type { Datatype } from "./tensor.ts";

/** What an answer must be besides being valid in itself. */
export interface ExpectedAnswer {
  /** The model that was asked. */
  readonly model: string;
  /** The outputs that were asked for, by name; empty when they are not known, so that any will do. */
  readonly outputs: ReadonlyMap<string, Datatype>;
  /** Whether an answer has all of them. Responses of a stream may have some. */
  readonly isWhole: boolean;
}

/** Returns what an answer of a model must be. @param isStreamed whether a request may have several responses */
export function expectAnswer({ name, outputs }: ModelInfo, isStreamed: boolean): ExpectedAnswer {
  const asked = new Map(outputs.map((output) => [output.name, output.datatype]));
  return { model: name, outputs: asked, isWhole: !isStreamed };
}

/**
 * Explains why an answer is not the expected one; undefined when it is.
 * @param model its model; empty or absent: the answer does not say @param outputs its outputs, each valid in itself
 */
export function explainUnexpected(
  { model: asked, outputs: expected, isWhole }: ExpectedAnswer,
  model: unknown,
  outputs: readonly { readonly name?: unknown; readonly datatype?: unknown }[],
): string | undefined {
  if (typeof model === "string" && model !== "" && model !== asked)
    return `the answer is from model '${model}', not from '${asked}'`;
  if (expected.size === 0) return undefined;
  for (const { name, datatype } of outputs) {
    const wanted = expected.get(String(name));
    if (wanted === undefined) return `the answer has the output '${String(name)}', which was not asked for`;
    if (wanted !== datatype) return `output '${String(name)}' has datatype ${String(datatype)}, not ${wanted}`;
  }
  if (!isWhole) return undefined;
  const names = new Set(outputs.map(({ name }) => name));
  const missing = [...expected.keys()].find((name) => !names.has(name));
  return missing === undefined ? undefined : `the answer has no output '${missing}'`;
}
