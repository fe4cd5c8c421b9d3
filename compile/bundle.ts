import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * `bun compile/bundle.ts --outfile FILE [--order FILE]… [--target TARGET] [--runtime FILE]`: builds the executable with Bun's bundler,
 * which only Bun has. `compile.ts` runs it.
 */

/** The part of Bun's bundler that is used. */
interface BunBundler {
  build(options: object): Promise<{ readonly success: boolean; readonly logs: readonly unknown[] }>;
}

interface PluginBuilder {
  onResolve(
    constraints: { filter: RegExp },
    callback: (args: { path: string; importer: string; kind: string }) => undefined,
  ): void;
  onLoad(
    constraints: { filter: RegExp },
    callback: (args: { path: string }) => { contents: string; loader: "ts" } | undefined,
  ): void;
}

const root = join(import.meta.dirname, "..");
const entry = join(root, "src", "main.ts");

const { values } = parseArgs({
  options: {
    outfile: { type: "string" },
    order: { type: "string", multiple: true },
    target: { type: "string" },
    runtime: { type: "string" },
  },
});
const { Bun } = globalThis as unknown as { Bun: BunBundler };
const { success, logs } = await Bun.build({
  entrypoints: [entry, join(root, "src", "worker.ts")],
  target: "bun",
  format: "esm",
  minify: true,
  // Load only what a command needs …
  splitting: true,
  minChunkSize: 16384,
  // … and start without parsing or compiling. `endStartUp` in runtime.ts ends that policy.
  bytecode: true,
  compile: {
    outfile: values.outfile,
    jitPolicy: 100,
    ...(values.order === undefined ? {} : { bytecodeOrder: values.order }),
    ...(values.target === undefined ? {} : { target: values.target }),
    ...(values.runtime === undefined ? {} : { executablePath: values.runtime }),
    // Ignore the user's .env and bunfig.toml.
    autoloadDotenv: false,
    autoloadBunfig: false,
    // Packages next to a scenario need their package.json for imports.
    autoloadPackageJson: true,
  },
  plugins: [{ name: "start in one chunk", setup: keepStartTogether }],
});
if (!success) throw new Error(`the bundler failed: ${logs.join("\n")}`);

/**
 * Bun groups modules into chunks by the entry points that import them. Modules that the entry imports statically are also imported by some
 * lazy modules, each by a different set, which gives about 20 chunks. This plugin makes each lazy module import all of them (they are
 * loaded by then), so that they become one chunk, which saves 0.15 ms of 8 at the start.
 */
function keepStartTogether(builder: PluginBuilder): void {
  const imports = readFileSync(entry, "utf8").matchAll(/^import .* from "(\..+)";$/gm);
  const importStart = Array.from(
    imports,
    ([, path]) => `import ${JSON.stringify(join(dirname(entry), path as string))};`,
  );
  if (importStart.length === 0) throw new Error(`${entry}: no imports found`);
  const lazy = new Set<string>();
  builder.onResolve({ filter: /^\./ }, ({ path, importer, kind }) => {
    if (kind === "dynamic-import") lazy.add(resolve(dirname(importer), path));
  });
  builder.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
    if (!lazy.has(path)) return undefined;
    return { contents: [readFileSync(path, "utf8"), ...importStart].join("\n"), loader: "ts" };
  });
}
