import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../../src/cli/commands.ts";
import { captureIo } from "../../cli/captured-io.ts";
import { readAll } from "../../cli/genai-perf/run-captured.ts";
import { fillPlaces, type Places } from "./places.ts";
import { type Statement, splitWords } from "./statement.ts";

/** Tries a statement. */

/** What command lines did, since several statements are shown by the same one. */
const outcomes = new Map<string, Promise<Outcome>>();

/** What is otherwise than the statement expects; empty where it holds. */
export async function tryStatement(statement: Statement, places: Places): Promise<string[]> {
  const { run } = statement;
  if (run === undefined) return [];
  const outcome = outcomes.get(run) ?? runLine(run, places);
  outcomes.set(run, outcome);
  return judge(statement, await outcome);
}

async function runLine(line: string, { values, takeSeen }: Places): Promise<Outcome> {
  const outFolder = join(values.dir ?? "", "out");
  mkdirSync(outFolder);
  takeSeen();
  const args = splitWords(line).map((word) => fillPlaces(word, { ...values, out: outFolder }));
  const captured = captureIo();
  const code = await runCommandLine("rampart", args, captured.io);
  const { out, err } = captured;
  const files = await readAll(outFolder);
  rmSync(outFolder, { recursive: true });
  return { code, out, err, seen: takeSeen(), files };
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly seen: readonly string[];
  /** Texts by path. */
  readonly files: ReadonlyMap<string, string>;
}

function judge(statement: Statement, { code, out, err, seen, files: written }: Outcome): string[] {
  const { refused, sent, files = {} } = statement;
  const expected = statement.code ?? (refused === undefined ? 0 : statement.run?.startsWith("genai-perf") ? 2 : 99);
  const wrong: string[] = [];
  if (code !== expected) wrong.push(`exit code ${code} instead of ${expected}: ${err}`);
  const lines = seen.join("\n");
  if (refused !== undefined && !err.replaceAll(/\s+/g, " ").includes(refused))
    wrong.push(`stderr lacks ${refused}: ${err}`);
  for (const [what, pattern, text] of [
    ["stdout", statement.out, out],
    ["stderr", statement.err, err],
    ["requests", statement.seen, lines],
  ] as const)
    if (pattern !== undefined && !pattern.test(text)) wrong.push(`${what}: no ${pattern} in\n${text.slice(0, 3000)}`);
  const count = seen.filter((line) =>
    /^CALL |^POST \/(?:v2\/models\/[^ ]*\/infer|v1\/|predictions\/|own)/.test(line),
  ).length;
  if (sent !== undefined && count !== sent) wrong.push(`${count} requests instead of ${sent}`);
  for (const [end, pattern] of Object.entries(files)) {
    const text = [...written].find(([path]) => path.endsWith(end))?.[1];
    if (text === undefined) wrong.push(`no file ${end} among ${[...written.keys()].join(", ")}`);
    else if (!pattern.test(text)) wrong.push(`${end}: no ${pattern} in\n${text.slice(0, 3000)}`);
  }
  return wrong;
}

const TESTS = join(import.meta.dirname, "..", "..");

/** Whether the transcript or the test that {@link Statement.shownBy} names exists. */
export function hasProof(proof: string, transcripts: readonly string[]): boolean {
  const transcript = /^transcript (\S+)$/.exec(proof)?.[1];
  if (transcript !== undefined) return transcripts.includes(transcript);
  const [, file = "", name = ""] = /^(\S+): (.+)$/.exec(proof) ?? [];
  return readFileSync(join(TESTS, file), "utf8").includes(name);
}
