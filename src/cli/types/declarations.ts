import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../runtime/runtime.ts";

/**
 * Returns the declarations of the module `rampart` as one file. The executable has them built in (`compile/bundle.ts`), the npm package
 * has them beside its code (`compile/pack.ts`), and in the repository they are generated from the source.
 */
export function readDeclarations(): string {
  const packed = new URL("../../index.d.ts", import.meta.url);
  if (existsSync(packed)) return readFileSync(packed, "utf8");
  const script = fileURLToPath(new URL("../../../compile/declarations.ts", import.meta.url));
  const args = runtimeName === "deno" ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 2 ** 26,
  });
}
