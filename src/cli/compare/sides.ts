import { existsSync } from "node:fs";
import { type Problem, problem } from "../../plan/problem.ts";

/** Division of the given files into the base and the candidates. */

/** The files of a command line by side, and its other arguments. */
export interface GivenSides {
  readonly base: readonly string[];
  /** A list of files for each candidate. */
  readonly candidates: readonly (readonly string[])[];
  /** Flags and their values. */
  readonly rest: readonly string[];
  readonly problems: readonly Problem[];
}

const SIDE = /^--(base|new)(?:=(.*))?$/s;

/**
 * Splits the arguments. Positional ones are the base and then one candidate each; several files of one side are joined with commas. After
 * `--base` and `--new`, all arguments up to the next flag are the files of that side, so that a shell can expand them: `--base old/*.json`.
 * @param takesValue reports whether a flag is followed by its value
 */
export function splitSides(args: readonly string[], takesValue: (flag: string) => boolean): GivenSides {
  const plain: string[] = [];
  const base: string[] = [];
  const candidates: string[][] = [];
  const rest: string[] = [];
  let into: string[] = plain;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const side = SIDE.exec(arg);
    if (side !== null) {
      into = side[1] === "new" ? [] : base;
      if (into !== base) candidates.push(into);
      if (side[2] !== undefined) into.push(side[2]);
    } else if (arg.startsWith("-") && arg !== "-") {
      into = plain;
      rest.push(arg);
      if (takesValue(arg) && at + 1 < args.length) rest.push(args[++at] as string);
    } else into.push(arg);
  }
  return { ...toSides(plain, base, candidates), rest };
}

const USAGE = "Write rampart compare BASE NEW, or --base FILE… --new FILE….";

function toSides(
  plain: readonly string[],
  base: readonly string[],
  candidates: readonly (readonly string[])[],
): Omit<GivenSides, "rest"> {
  const isNamed = base.length > 0 || candidates.length > 0;
  const [first, ...others] = plain;
  if (!isNamed) {
    const given = { base: first === undefined ? [] : splitList(first), candidates: others.map(splitList) };
    const problems = [
      ...(given.base.length === 0 ? [problem("missing", "BASE", "is missing", USAGE)] : []),
      ...(first !== undefined && (others.length === 0 || given.candidates.some((files) => files.length === 0))
        ? [problem("missing", "NEW", "is missing", USAGE)]
        : []),
    ];
    return { ...given, problems };
  }
  const files = base.flatMap(splitList);
  const lists = candidates.map((given) => given.flatMap(splitList));
  const empty = lists.length === 0 || lists.some((list) => list.length === 0);
  const problems = [
    ...plain.map((file) => problem("conflict", file, "is neither after --base nor after --new", USAGE)),
    ...(files.length === 0 ? [problem("missing", "--base", "needs a file", USAGE)] : []),
    ...(empty ? [problem("missing", "--new", "needs a file", USAGE)] : []),
  ];
  return { base: files, candidates: lists, problems };
}

/** Splits files that are joined with commas, unless a file has the whole text as its name. */
function splitList(given: string): string[] {
  return existsSync(given) ? [given] : given.split(",").filter((path) => path !== "");
}
