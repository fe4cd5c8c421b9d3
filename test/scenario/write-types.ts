import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDeclarations } from "../../compile/declarations.ts";
import { ROOT } from "../cli/rampart-process.ts";

/**
 * Writes into a folder what the compiler needs for the scenarios in it, under the rules of the source. `rampart` is its declarations: the
 * compiler does not check the whole source again. The folder must be outside of the repository, whose package is `rampart` too.
 */
export function writeTypes(folder: string, compilerOptions: object = {}): void {
  const settings = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      typeRoots: [join(ROOT, "node_modules", "@types")],
      paths: { rampart: ["./rampart.d.ts"] },
      ...compilerOptions,
    },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "rampart.d.ts"), makeDeclarations());
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
}
