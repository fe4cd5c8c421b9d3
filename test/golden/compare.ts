import {
  dropAccidents,
  normaliseCsv,
  normaliseProfile,
  normaliseStderr,
  normaliseStdout,
  readContext,
} from "./normalise.ts";
import type { Transcript } from "./transcript.ts";

/** What one run printed and wrote; ports stand there as in the transcripts, `{http}` and so on. */
export interface Outcome {
  /** null when the run was ended because it took too long. */
  exitCode: number | null;
  /** Of a job under mpirun with the tag of its rank before each line. */
  stdout: string;
  stderr: string;
  csv: string | undefined;
  /** The CSV files of models that the measured one calls, by file name. */
  composingCsv: Readonly<Record<string, string>>;
  profile: Uint8Array | undefined;
}

/** The differences between a transcript and a run, as lines to print: `-` only in the transcript, `+` only in the run. */
export function compare(transcript: Transcript, outcome: Outcome): string[] {
  const context = readContext(transcript.args);
  const differences: string[] = [];
  if (outcome.exitCode !== transcript.exitCode) {
    differences.push(`exit code ${outcome.exitCode ?? "none in time"} instead of ${transcript.exitCode}`);
  }
  const { rankCount } = transcript;
  const printed = splitRanks(outcome.stdout, "stdout", rankCount).flatMap((text) => normaliseStdout(text, context));
  const told = splitRanks(outcome.stderr, "stderr", rankCount).flatMap((text) => normaliseStderr(text, context));
  differences.push(...titled("stdout", diffLines(transcript.stdout, dropAccidents(printed, transcript.stdout))));
  differences.push(...titled("stderr", diffLines(transcript.stderr, told)));
  differences.push(
    ...transcript.names.filter((name) => !namesIt(outcome.stderr, name)).map((name) => `stderr does not name ${name}`),
  );
  const csv = outcome.csv === undefined ? undefined : normaliseCsv(outcome.csv);
  differences.push(...titled("csv", diffLines(transcript.csv ?? [], csv ?? [])));
  for (const name of new Set([...Object.keys(transcript.composingCsv), ...Object.keys(outcome.composingCsv)])) {
    const text = outcome.composingCsv[name];
    const rows = text === undefined ? [] : normaliseCsv(text);
    differences.push(...titled(name, diffLines(transcript.composingCsv[name] ?? [], rows)));
  }
  const profile = outcome.profile === undefined ? undefined : normaliseProfile(outcome.profile, context);
  differences.push(...titled("profile export", diffLines(transcript.profile ?? [], profile ?? [])));
  return differences;
}

/** What each rank of a job printed, without mpirun's own lines; all of it where there is no job. */
function splitRanks(text: string, stream: "stdout" | "stderr", rankCount: number | undefined): string[] {
  if (rankCount === undefined) return [text];
  const lines = text.split("\n");
  return Array.from({ length: rankCount }, (_, rank) => {
    const tag = `[1,${rank}]<${stream}>:`;
    const own = lines.filter((line) => line.startsWith(tag));
    return own.map((line) => `${line.slice(tag.length)}\n`).join("");
  });
}

/** Whether `text` has `name` as whole words: `0` is not named by `10`. */
function namesIt(text: string, name: string): boolean {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${escaped}(?![\\w])`).test(text);
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

/** The shortest edit from `golden` to `actual`, without the equal lines. */
function diffLines(golden: readonly string[], actual: readonly string[]): string[] {
  const common = measureCommon(golden, actual);
  const lines: string[] = [];
  let g = 0;
  let a = 0;
  while (g < golden.length || a < actual.length) {
    if (g < golden.length && a < actual.length && golden[g] === actual[a]) {
      g++;
      a++;
    } else if (a >= actual.length || (g < golden.length && at(common, g + 1, a) >= at(common, g, a + 1))) {
      lines.push(`- ${golden[g++]}`);
    } else {
      lines.push(`+ ${actual[a++]}`);
    }
  }
  return lines;
}

/** For every pair of positions the length of the longest common subsequence of what follows. */
function measureCommon(golden: readonly string[], actual: readonly string[]): number[][] {
  const common = Array.from({ length: golden.length + 1 }, () => new Array<number>(actual.length + 1).fill(0));
  for (let g = golden.length - 1; g >= 0; g--) {
    for (let a = actual.length - 1; a >= 0; a--) {
      const length =
        golden[g] === actual[a] ? at(common, g + 1, a + 1) + 1 : Math.max(at(common, g + 1, a), at(common, g, a + 1));
      (common[g] as number[])[a] = length;
    }
  }
  return common;
}

function at(table: readonly number[][], row: number, column: number): number {
  return table[row]?.[column] ?? 0;
}
