import { type Problem, problem } from "../../plan/problem.ts";
import { answerTypeOf } from "../targets/llm-content.ts";
import { targetBuilderOf } from "../targets/table.ts";
import type { CheckedTarget } from "../targets/target-builder.ts";
import type { MaybeServer } from "./check-limits.ts";

/** Returns the targets that have no streamed tokens to limit. @param targets the target, or the members of a mix */
export function checkServerTargets({ kind, options }: MaybeServer, targets: readonly CheckedTarget[]): Problem[] {
  if (kind !== "server" || options.timeToFirstToken === undefined) return [];
  return targets.flatMap((target): Problem[] => {
    const { call, content } = targetBuilderOf(target);
    const found = content?.(target, "");
    const type = found && answerTypeOf(found);
    if (type === "stream") return [];
    const hint =
      type === "text"
        ? "Set streaming: true in the target's options, or limit latency."
        : "Measure a target that streams tokens, or limit latency.";
    const message = `needs streamed tokens, and answers of ${call} are not streamed`;
    return [problem("conflict", "load.timeToFirstToken", message, hint, String(options.timeToFirstToken))];
  });
}
