import { type CommandUsage, showOption } from "../shown-usage.ts";
import { OPTIONS } from "./options/table.ts";

/** Returns what perf_analyzer mode accepts. */
export function describeUsage(): CommandUsage {
  return { options: OPTIONS.map((option) => showOption(option)) };
}
