import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * `node compile/declarations.ts` prints the declarations of the public API as one file, which is the module `rampart`: for the package's
 * `types`, and for editors, where `rampart types` writes it beside scenarios. It has what `src/index.ts` exports, and what that refers to, and
 * imports nothing.
 */

const root = join(import.meta.dirname, "..");

/** Makes the file, once for the same sources: it stays in `.cache`. @throws Error when the API refers to a type of a package */
export function makeDeclarations(): string {
  const cache = join(root, ".cache", "declarations");
  const path = join(cache, `${hashSources()}.d.ts`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  const text = emitOneFile();
  mkdirSync(cache, { recursive: true });
  // Another process may read it meanwhile.
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
  return text;
}

/** Returns a hash of all that the file is made from: the sources, this program, the compiler and the packages. */
function hashSources(): string {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join("src", path));
  const others = ["package-lock.json", "tsconfig.json", join("compile", "declarations.ts")];
  for (const path of [...sources.sort(), ...others]) hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest("hex").slice(0, 24);
}

function emitOneFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "rampart-types-"));
  try {
    emitDeclarations(folder);
    return new Declarations(join(folder, "lib")).format();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function emitDeclarations(folder: string): void {
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: join(folder, "lib"),
    rootDir: join(root, "src"),
    typeRoots: [join(root, "node_modules", "@types")],
  };
  const files = [join(root, "src", "index.ts")];
  const config = join(folder, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] }));
  // Several threads each check what they share: one takes two thirds of the CPU time.
  const args = ["-p", config, "--singleThreaded"];
  execFileSync(join(root, "node_modules", ".bin", "tsc"), args, { encoding: "utf8", stdio: "pipe" });
}

/** The top-level statements of a file by the name that they declare, and where its imports are from. */
interface Source {
  readonly declared: ReadonlyMap<string, string>;
  /** The file, without a package's name, and the name there. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const STATEMENT = /^(?:export |declare |import |interface |type |const |function |abstract |class |\/\*\*)/;
const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:function|interface|type|const|class) (\w+)/;
const LIST = /^(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)";/s;

class Declarations {
  private readonly folder: string;
  private readonly sources = new Map<string, Source>();
  /** Names in the output by file and name there. */
  private readonly names = new Map<string, string>();
  private readonly texts: string[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  format(): string {
    const index = this.read("index.d.ts");
    const exported = [...index.imported.keys(), "defineScenario"];
    for (const name of exported) this.require("index.d.ts", name);
    const body = [...this.texts, `export { ${exported.sort().join(", ")} };`].join("\n");
    const declared = body.replace(/^(?=(?:abstract class|class|const|function|let|namespace) )/gm, "declare ");
    return `${MARK}\n\n${declared}\n`;
  }

  /** Adds a declaration with all that it refers to. Returns its name in the output. */
  private require(file: string, name: string): string {
    const source = this.read(file);
    const from = source.imported.get(name);
    if (from !== undefined) return this.require(from.file, from.name);
    const key = `${file}#${name}`;
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const statement = source.declared.get(name);
    if (statement === undefined) throw new Error(`${file} declares no ${name}`);
    const output = this.freeName(name);
    this.names.set(key, output);
    const at = this.texts.push("") - 1;
    this.texts[at] = this.rename(file, source, statement.replace(/^export |^declare |(?<=^export )declare /gm, ""));
    return output;
  }

  private freeName(name: string): string {
    const taken = new Set(this.names.values());
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`;
    return free;
  }

  /** Gives what a statement refers to its name in the output. */
  private rename(file: string, source: Source, statement: string): string {
    const inlined = statement.replace(/import\("(\.[^"]+)"\)\.(\w+)/g, (_all, path: string, name: string) =>
      this.require(resolveFile(file, path), name),
    );
    return inlined.replace(/\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|(?<![.\w$])[A-Za-z_]\w*/g, (token, at: number) => {
      if (!/^\w/.test(token) || !(source.declared.has(token) || source.imported.has(token))) return token;
      // The name of a member.
      if (/^\??:/.test(inlined.slice(at + token.length)) && !/[?:]\s$/.test(inlined.slice(0, at))) return token;
      return this.require(file, token);
    });
  }

  private read(file: string): Source {
    const known = this.sources.get(file);
    if (known !== undefined) return known;
    const declared = new Map<string, string>();
    const imported = new Map<string, { file: string; name: string }>();
    for (const statement of split(readFileSync(join(this.folder, file), "utf8"))) {
      const list = LIST.exec(statement);
      const name = DECLARATION.exec(withoutComments(statement))?.[1];
      if (list !== null) {
        for (const item of (list[1] as string).split(",").filter((text) => text.trim() !== "")) {
          const [original = "", own = original] = item
            .trim()
            .replace(/^type /, "")
            .split(" as ");
          imported.set(own, { file: resolveFile(file, list[2] as string), name: original });
        }
      } else if (name !== undefined) declared.set(name, (declared.get(name) ?? "") + statement);
    }
    const source = { declared, imported };
    this.sources.set(file, source);
    return source;
  }
}

/** The statements of a file, each with its doc comment. */
function split(text: string): string[] {
  const pieces: string[] = [];
  let isComment = false;
  for (const line of text.split("\n")) {
    if (line === "export {};") continue;
    if (line.startsWith("/**") || (STATEMENT.test(line) && !isComment)) pieces.push(`${line}\n`);
    else if (pieces.length > 0) pieces[pieces.length - 1] += `${line}\n`;
    isComment = line.startsWith("/**") || (isComment && line.startsWith(" *"));
  }
  // A comment inside a union begins a line too.
  const statements: string[] = [];
  for (const piece of pieces) {
    const isWhole = LIST.test(piece) || DECLARATION.test(withoutComments(piece));
    if (isWhole || statements.length === 0) statements.push(piece);
    else statements[statements.length - 1] += piece;
  }
  return statements;
}

function withoutComments(statement: string): string {
  return statement.replace(/\/\*[\s\S]*?\*\//g, "").trimStart();
}

function resolveFile(from: string, path: string): string {
  if (!path.startsWith(".")) throw new Error(`${from} refers to the package ${path}`);
  return join(dirname(from), path).replace(/(?:\.d)?\.ts$/, ".d.ts");
}

/** The first line of the file, by which `rampart types` recognizes it. */
const MARK =
  "// Types of Rampart's scenarios, written by `rampart types`. Do not change this file: it is written again.";

if (import.meta.main) process.stdout.write(makeDeclarations());
