import { userError } from "../../plan/problem.ts";
import type { CheckedDefinition } from "./checked-definition.ts";
import { plainLoadOf } from "./phase-table.ts";

/** Returns the definition with the inputs of a load that replays a trace. @throws UserError when there are other inputs */
export function withTrace(definition: CheckedDefinition): CheckedDefinition {
  const load = plainLoadOf(definition.load);
  if (load?.kind !== "trace") return definition;
  const { inputs } = definition;
  if (inputs !== undefined)
    throw userError(
      "conflict",
      "inputs",
      "the trace of the load has its requests",
      "Leave it out.",
      `${inputs.kind}(…)`,
    );
  const { file = "", seed, extra } = load.options;
  const options = { file, ...(seed === undefined ? {} : { seed }), ...(extra === undefined ? {} : { extra }) };
  return { ...definition, inputs: { kind: "trace", files: [], options } };
}
