import { problem, UserError } from "../plan/problem.ts";
import { publishedSchema } from "../report/schema/json-schema.ts";
import { EXIT } from "../result/exit-codes.ts";
import { scenarioJsonSchema } from "../scenario/data/json-schema.ts";
import type { CommandIo } from "./execute.ts";
import { flagCommand } from "./explain-errors.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "./flags.ts";
import { readDescriptions } from "./help/descriptions.ts";
import type { HelpPage } from "./help/page.ts";

/** `rampart schema NAME`: prints a published JSON Schema. */

interface PublishedSchema {
  readonly summary: string;
  /** Returns the schema as plain data. */
  load(): object;
}

/** The schemas by name. */
export const SCHEMAS: Readonly<Record<string, PublishedSchema>> = {
  report: {
    summary: "the JSON report of a run (--json)",
    load: () => publishedSchema("report"),
  },
  comparison: {
    summary: "the JSON of a comparison, and of ab (rampart compare --json)",
    load: () => publishedSchema("comparison"),
  },
  sweep: {
    summary: "the JSON of a sweep, and of perTarget (rampart run --sweep --json)",
    load: () => publishedSchema("sweep"),
  },
  scenarios: {
    summary: "the JSON of several scenarios (rampart run a.ts b.ts --json)",
    load: () => publishedSchema("scenarios"),
  },
  scenario: {
    summary: "a scenario in YAML or JSON (rampart run x.yaml)",
    load: () => scenarioJsonSchema(readDescriptions()),
  },
};

/** Its options. */
export const FLAGS: readonly Flag[] = HELP_FLAGS;

/** The command. */
export const COMMAND = flagCommand({
  operand: {
    name: "NAME",
    choices: Object.keys(SCHEMAS),
    takes: "word",
  },
  page: helpPage,
  run: runSchemaCommand,
});

/** Runs the command. Returns the exit code. */
async function runSchemaCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  const [name = ""] = flags.positionals;
  const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  const hint = `Use one of ${Object.keys(SCHEMAS).join(", ")}.`;
  const message = name === "" ? "no schema is named" : "is not the name of a schema";
  const unknown = schema === undefined ? [problem("unknown-name", "NAME", message, hint, name || undefined)] : [];
  const problems = [...flags.problems, ...unknown];
  if (schema === undefined || problems.length > 0) throw new UserError(problems);
  io.out(`${JSON.stringify(schema.load(), null, 2)}\n`);
  return EXIT.passed;
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} NAME`],
    about: ["Prints the JSON Schema of a file that Rampart writes or reads."],
    lists: [{ title: "Schemas", rows: Object.entries(SCHEMAS).map(([name, { summary }]) => [name, summary] as const) }],
    flags: FLAGS,
  };
}
