import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import protobuf from "protobufjs";
import type { Text } from "../../plan/messages.ts";
import { messageOf, NO_FILE, type Problem, problem, UserError, unreadable } from "../../plan/problem.ts";
import { locate, MOST_SETTINGS_BYTES, readFileText } from "../../runtime/files.ts";
import { resolveTypes } from "./methods.ts";

/** Keep names as in the files, not in camel case. */
const PARSE_OPTIONS: protobuf.IParseOptions = { keepCase: true };

/**
 * Parses `.proto` files and everything that they import. Google's well-known types need no files.
 * @param importPaths folders for the files and their imports. Imports are also searched for in the folder of the importing file and in
 * those above it
 * @param place the setting that names the files, for errors
 * @throws UserError with every file that is missing or not valid
 */
export function readProtoFiles(
  files: readonly string[],
  importPaths: readonly string[],
  place: Text = { setting: "target.protoFiles" },
): protobuf.Root {
  const reader = new ProtoFileReader(importPaths, place);
  for (const file of files) reader.add(file);
  return reader.finish();
}

class ProtoFileReader {
  private readonly root = new protobuf.Root();
  private readonly importPaths: readonly string[];
  private readonly place: Text;
  private readonly problems: Problem[] = [];
  private readonly seen = new Set<string>();

  constructor(importPaths: readonly string[], place: Text) {
    this.importPaths = importPaths;
    this.place = place;
  }

  add(file: string): void {
    const path = [file, ...this.importPaths.map((folder) => join(folder, file))].find((one) => existsSync(locate(one)));
    if (path === undefined) {
      const looked = isAbsolute(file) ? [] : this.importPaths;
      const hint =
        looked.length === 0 ? "Give the path of a .proto file." : `It is not in ${looked.join(", ")} either.`;
      this.problems.push(problem("unreadable", this.place, NO_FILE, hint, file));
    } else this.read(path);
  }

  finish(): protobuf.Root {
    const { problems, root } = this;
    if (problems.length > 0) throw new UserError(problems);
    try {
      resolveTypes(root);
    } catch (error) {
      const hint = "Give the .proto file that defines it too.";
      throw new UserError([problem("missing", this.place, messageOf(error), hint)]);
    }
    return root;
  }

  private read(path: string): void {
    const place = resolve(path);
    if (this.seen.has(place)) return;
    this.seen.add(place);
    let parsed: protobuf.IParserResult;
    try {
      parsed = protobuf.parse(readText(path), this.root, PARSE_OPTIONS);
    } catch (error) {
      if (error instanceof UserError) this.problems.push(...error.problems);
      else this.problems.push(problem("invalid-value", path, `is not valid: ${messageOf(error)}`, "Correct the file."));
      return;
    }
    for (const name of [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])]) this.readImport(name, path);
  }

  private readImport(name: string, from: string): void {
    const path = this.locate(name, from);
    if (path !== undefined) {
      this.read(path);
      return;
    }
    const known = protobuf.common.get(name);
    if (known !== null) {
      if (!this.seen.has(name)) this.root.addJSON(known.nested ?? {});
      this.seen.add(name);
    } else if (!IGNORED_IMPORTS.has(name)) {
      const hint = { say: "import-folder", file: name } as const;
      this.problems.push(problem("missing", from, `imports ${name}, which is in no folder of imports`, hint));
    }
  }

  /** Searches the import folders, then the importing file's folder and those above it: one of these is the root of its package. */
  private locate(name: string, from: string): string | undefined {
    const folders = [...this.importPaths];
    for (let folder = dirname(resolve(from)); ; folder = dirname(folder)) {
      folders.push(folder);
      if (dirname(folder) === folder) break;
    }
    return folders.map((folder) => join(folder, name)).find((path) => existsSync(locate(path)));
  }
}

/** Files that only describe options of files, which messages do not contain. */
const IGNORED_IMPORTS: ReadonlySet<string> = new Set(["google/protobuf/descriptor.proto"]);

function readText(path: string): string {
  try {
    return readFileText(path, MOST_SETTINGS_BYTES);
  } catch (error) {
    throw unreadable(path, error, "Give a .proto file that can be read.");
  }
}
