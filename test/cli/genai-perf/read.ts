import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readConfigText } from "../../../src/cli/genai-perf/options/config.ts";
import { parseCommand } from "../../../src/cli/genai-perf/options/parse.ts";
import { DEFAULTS } from "../../../src/cli/genai-perf/options/subcommands.ts";
import { ValuesBuilder } from "../../../src/cli/genai-perf/options/values-builder.ts";
import { type ReadCommand, readSettings, type SettingsResult } from "../../../src/cli/genai-perf/read-settings.ts";
import { word } from "../../../src/plan/messages.ts";

/** What a command line comes to. */
export function read(...args: string[]): SettingsResult {
  const command = parseCommand(args);
  assert.equal(command.kind, "command", JSON.stringify(command));
  return readSettings(command as typeof command & { kind: "command" });
}

/** What a command line asks for, which must be right. */
export function readGood(...args: string[]): ReadCommand {
  const result = read(...args);
  assert.ok(result.kind === "settings", JSON.stringify(result));
  return result;
}

/** The messages of a command line that must be wrong. */
export function readBad(...args: string[]): string[] {
  const result = read(...args);
  return result.kind === "settings" ? [] : result.problems.map(({ message }) => word(message));
}

/** A YAML text, read under the name `cfg.yaml`. */
export function readYaml(text: string): ValuesBuilder {
  const builder = new ValuesBuilder(DEFAULTS);
  readConfigText(builder, text, "cfg.yaml");
  return builder;
}

/** A committed copy of what the original printed or wrote. */
export function golden(name: string): string {
  return readFileSync(new URL(`./golden/${name}`, import.meta.url), "utf8");
}
