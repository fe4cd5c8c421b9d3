import { TARGET_TAG } from "../plan/groups/tags.ts";
import { word } from "../plan/messages.ts";
import { defined } from "../plan/objects.ts";
import { movePath, type Problem, problem } from "../plan/problem.ts";
import type { AnyAssertion } from "./assertion.ts";
import { checkLlm } from "./check-llm.ts";
import type { Inputs } from "./input-data.ts";
import { describeInputs, inputBuilderOf, promptOptionsOf, random } from "./inputs.ts";
import type { Load } from "./loads/load.ts";
import type { RequestsPlan } from "./mix.ts";
import { toMixPlan } from "./mix.ts";
import { asksLength } from "./prompts.ts";
import { toTokensPlan } from "./targets/llm-content.ts";
import { targetBuilderOf } from "./targets/table.ts";
import type { AnyTarget } from "./targets/target-builder.ts";

/** A target and its inputs. */
export interface TargetPart {
  readonly target: AnyTarget;
  readonly inputs?: Inputs | undefined;
}

/** A part of a scenario and the prefix of its paths: `target.1.` for a member of a mix, otherwise empty. */
interface NamedPart extends TargetPart {
  readonly name: string;
  readonly prefix: string;
}

/** Converts a target and its inputs, or the members of a mix, to their form in a plan. */
export function toRequestsPlan(part: TargetPart, folder: string, requestCount: number | undefined): RequestsPlan {
  const { target, inputs } = part;
  const builder = targetBuilderOf(target);
  const members = builder.members?.(target);
  if (members !== undefined)
    return toMixPlan(members, requestCount, (member, share) => toRequestsPlan(member, folder, share));
  const content = builder.content?.(target, folder);
  const given = inputs ?? random();
  const builtIn = inputs === undefined ? builder.inputs?.(target, folder, requestCount) : undefined;
  const tokens = content && toTokensPlan(content, asksLength(promptOptionsOf(given) ?? {}) || given.kind === "trace");
  const taken = {
    form: builder.takes ?? (content === undefined ? "tensors" : "payloads"),
    content,
    takesFiles: builder.takesFiles === true,
    requestCount,
  } as const;
  return {
    target: builder.toPlan(target, folder, inputs),
    inputs: builtIn ?? inputBuilderOf(given).toPlan(given, folder, taken),
    ...defined({ tokens }),
  };
}

/** Returns the single targets of a scenario. */
export function partsOf({ target, inputs }: TargetPart): NamedPart[] {
  const members = targetBuilderOf(target).members?.(target);
  if (members === undefined) return [{ name: "", prefix: "", target, ...defined({ inputs }) }];
  return members.map((member, index) => ({ ...member, prefix: `target.${index}.` }));
}

/** Returns conflicts of the targets with their inputs, the load and the assertions. */
export function checkRequests(
  part: TargetPart & { readonly load: { readonly kind: Load["kind"] }; readonly assert?: readonly AnyAssertion[] },
): Problem[] {
  const { load, assert = [], inputs } = part;
  const parts = partsOf(part);
  const forOther = parts.flatMap(checkTarget);
  if (forOther.length > 0) return forOther;
  if (parts[0]?.prefix === "")
    return [...checkLlm(part), ...(targetBuilderOf(part.target).check?.(part.target, inputs) ?? [])];
  const problems = parts.flatMap(({ prefix, ...member }) =>
    [
      ...checkLlm({ ...member, load }),
      ...(targetBuilderOf(member.target).check?.(member.target, member.inputs) ?? []),
    ].map((found) => movePath(found, (path) => (/^(target|inputs)\b/.test(path) ? `${prefix}${path}` : path))),
  );
  if (inputs !== undefined) {
    const hint = "Give each member its inputs.";
    problems.push(
      problem("conflict", "inputs", "each target of mix(…) has its own inputs", hint, describeInputs(inputs)),
    );
  }
  return [...problems, ...assert.flatMap((assertion, index) => checkAssertion(assertion, index, parts, load))];
}

/** Returns a problem if inputs for one kind of target are used with another one, or with a mix. */
function checkTarget({ target, inputs, prefix }: NamedPart): Problem[] {
  const needed = inputs && inputBuilderOf(inputs).needsTarget;
  if (inputs === undefined || needed === undefined) return [];
  const path = `${prefix}inputs`;
  const call = describeInputs(inputs);
  const { name, without } = needed;
  if (prefix !== "")
    return [problem("conflict", path, `${call} cannot be a part of mix(…)`, `Measure it alone, with ${name}(…).`)];
  const { form } = targetBuilderOf(target);
  const hint = `Use ${name}("HOST:PORT") as the target: it sends any request to any HTTP server.`;
  if (form.name !== name)
    return [problem("conflict", path, `${call} is for the target ${name}(…)`, hint, `${form.name}(…)`)];
  const given = target.options as Readonly<Record<string, unknown>>;
  const message = `has no effect with ${call}, whose calls have their own`;
  return without
    .filter((option) => given[option] !== undefined)
    .map((option) => problem("conflict", `target.${option}`, message, "Leave it out.", String(given[option])));
}

/** An assertion is possible if its metric can be measured for one of its members. */
function checkAssertion(
  assertion: AnyAssertion,
  index: number,
  parts: readonly NamedPart[],
  load: { readonly kind: Load["kind"] },
): Problem[] {
  const wanted = assertion.where?.[TARGET_TAG];
  const asked = parts.filter(({ name }) => wanted === undefined || name === String(wanted));
  const found = asked.map((member) =>
    checkLlm({ ...member, load, assert: [assertion] }).filter(({ path }) => word(path).startsWith("assert.")),
  );
  if (found.length === 0 || found.some((problems) => problems.length === 0)) return [];
  return (found[0] ?? []).map((one) => ({ ...one, path: `assert.${index}` }));
}
