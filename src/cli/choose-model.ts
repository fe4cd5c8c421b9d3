import { problem, UserError } from "../plan/problem.ts";

/** Maximum number of names in a hint. A gateway may have hundreds of models. */
const MOST_NAMES = 20;

/** Returns the only one of a server's models. @throws UserError with their names if there are several or none */
export function chooseModel(names: readonly string[]): string {
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  const message =
    names.length === 0 ? "is needed: the server lists no models" : `is needed: the server has ${names.length} models`;
  const hint = names.length === 0 ? "Give --model NAME." : `Give one of ${names.slice(0, MOST_NAMES).join(", ")}.`;
  throw new UserError([problem("missing", "--model", message, hint)]);
}
