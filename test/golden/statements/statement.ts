import { formatTable } from "../../../compile/docs/table.ts";

/** The statements of the originals' documents that were tried: what they say, the command line that shows it, and what must be seen. */

/** One statement, or a small group that one command line shows. */
export interface Statement {
  /** What the document says, in the words of this project. */
  readonly says: string;
  /** The command line, of `rampart`. `{simple}` and the like are places of `places.ts`; `'…'` holds blanks. Absent: {@link shownBy} shows it. */
  readonly run?: string;
  /** The exit code. Default: 0; with {@link refused} 99, or 2 of `genai-perf`. */
  readonly code?: number;
  /** The message of a refusal, as stderr must have it. */
  readonly refused?: string;
  readonly out?: RegExp;
  readonly err?: RegExp;
  /** Must be found in a line for each request that a server received: `METHOD PATH HEADERS BODY`. */
  readonly seen?: RegExp;
  /** The number of requests for inference that the servers received. */
  readonly sent?: number;
  /** What files below `{out}` must hold, by the end of their path. */
  readonly files?: Readonly<Record<string, RegExp>>;
  /** Tests that show the statement, or more of it: `transcript NAME`, or `FILE: TEST` below `test/`. */
  readonly shownBy?: string;
  /** Where Rampart does not do what the document says: what the original does, or why. Absent: it does. */
  readonly differs?: string;
}

/** The statements of one section of a document. */
export interface Section {
  /** The document's number, a colon, and the section. */
  readonly title: string;
  readonly statements: readonly Statement[];
}

/** `01.7`: document and place in it, over all sections. */
export function numberStatements(sections: readonly Section[]): (readonly [id: string, statement: Statement])[] {
  const counts = new Map<string, number>();
  return sections.flatMap(({ title, statements }) => {
    const document = title.slice(0, 2);
    return statements.map((statement): [string, Statement] => {
      const count = (counts.get(document) ?? 0) + 1;
      counts.set(document, count);
      return [`${document}.${count}`, statement];
    });
  });
}

/** The words of a command line: blanks separate them, except within `'…'`. */
export function splitWords(line: string): string[] {
  return (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

/** What the table of a section says about the outcome. */
function formatResult({ refused, differs, code = 0 }: Statement): string {
  if (differs !== undefined) return "differs";
  if (refused !== undefined) return `refused: \`${refused}\``;
  return code === 0 ? "works" : `works, exit code ${code}`;
}

/** The guide's part: how many there are, those that differ, then a table for each section. */
export function formatStatements(sections: readonly Section[]): string {
  const numbered = numberStatements(sections);
  const ids = new Map(numbered.map(([id, statement]) => [statement, id]));
  const differing = numbered.filter(([, { differs }]) => differs !== undefined);
  const refused = numbered.filter(([, one]) => one.refused !== undefined && one.differs === undefined).length;
  const tried = numbered.filter(([, { run }]) => run !== undefined).length;
  const works = numbered.length - differing.length - refused;
  const summary = `${numbered.length} statements, ${tried} of them with a command line of their own: ${works} work, ${refused} are refused by name, ${differing.length} differ.`;
  const rows = differing.map(([id, { says, differs = "" }]) => [`\`${id}\``, says, differs]);
  const list = `### Where document and tool differ\n\n${formatTable(["", "the document says", "the tools do"], rows)}`;
  const tables = sections.map(({ title, statements }) => {
    const cells = statements.map((one) => [`\`${ids.get(one)}\``, one.says, formatProofs(one), formatResult(one)]);
    return `### ${title}\n\n${formatTable(["", "the document says", "tried with", "result"], cells)}`;
  });
  return [summary, list, ...tables].join("\n\n");
}

function formatProofs({ run, shownBy }: Statement): string {
  const proof = shownBy?.startsWith("transcript ") === true ? shownBy : shownBy?.replace(/^(\S+): /, "`$1`: ");
  return [run === undefined ? undefined : `\`${run}\``, proof].filter((part) => part !== undefined).join("; ");
}
