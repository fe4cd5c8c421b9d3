import type { Plan } from "../../plan/plan.ts";

/** Describes the parameters of a scenario: `parameters: users 32 (command line), pace 5 s (default)`. Undefined if it has none. */
export function describeParameters({ parameters = {} }: Plan): string | undefined {
  const texts = Object.entries(parameters).map(([name, { value, from }]) => `${name} ${value} (${from})`);
  return texts.length === 0 ? undefined : `parameters: ${texts.join(", ")}`;
}
