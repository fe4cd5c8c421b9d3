/** A scenario with a mistake, as a new user or one of another tool writes it. */
export interface WrongScenario {
  /** What is wrong with it. */
  readonly name: string;
  /** Its fields, each of which is a line of the file, from the third one. Absent: `call` or `code` says all. */
  readonly fields?: readonly string[];
  /** What is the default export. */
  readonly call?: string;
  /** The whole file. */
  readonly code?: string;
  /**
   * What `rampart run` says where nobody has checked types, one or more problems: line, column, field, value and how to correct it. `<*>`
   * stands for any text. Absent: it is a mistake in a function that is called while the run lasts.
   */
  readonly says?: string | readonly string[];
  /** Why the compiler cannot see it. Absent: it does not compile. */
  readonly compiles?: string;
}

/** Returns the text of the file. @param exported names of the API, of which it imports those that it uses */
export function scenarioCode({ fields = [], call, code }: WrongScenario, exported: readonly string[]): string {
  if (code !== undefined) return code;
  const lines = ['name: "wrong"', ...fields].map((field) => `  ${field},\n`);
  const made = call ?? `defineScenario({\n${lines.join("")}})`;
  const used = new Set(made.match(/(?<![.\w"])[A-Za-z]\w*(?=[(.,\s])/g));
  // These have been exported once.
  const names = [...exported, "json", "prompts", "requestRate"].filter((name) => used.has(name));
  return `import { ${names.sort().join(", ")} } from "rampart";\nexport default ${made};\n`;
}
