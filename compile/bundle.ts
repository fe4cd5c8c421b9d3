import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { TOPICS } from "../src/cli/help/topics.ts";
import { makeDeclarations } from "./declarations.ts";

/**
 * `bun compile/bundle.ts --outfile FILE [--order FILE]… [--target TARGET] [--runtime FILE]`: builds the executable with Bun's bundler,
 * which only Bun has. `compile.ts` and `release.ts` run it. With `--outdir FOLDER` instead it writes JavaScript for `compile-deno.ts`.
 * `--sources FILE` writes the paths of all bundled files, one a line.
 */

/** The part of Bun's bundler that is used. */
interface BunBundler {
  build(options: object): Promise<{
    readonly success: boolean;
    readonly logs: readonly unknown[];
    readonly metafile?: { readonly outputs: Readonly<Record<string, { readonly inputs: object }>> };
  }>;
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
    outdir: { type: "string" },
    order: { type: "string", multiple: true },
    target: { type: "string" },
    runtime: { type: "string" },
    sources: { type: "string" },
  },
});
const { Bun } = globalThis as unknown as { Bun: BunBundler };
const common = {
  entrypoints: [entry, join(root, "src", "worker.ts")],
  format: "esm",
  minify: true,
  // Load only what a command needs …
  splitting: true,
  metafile: values.sources !== undefined,
};
const executable = {
  target: "bun",
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
  plugins: [
    { name: "guides", setup: embedGuides },
    { name: "types", setup: embedTypes },
    { name: "start in one chunk", setup: keepStartTogether },
  ],
};
const folder = {
  target: "node",
  outdir: values.outdir,
  plugins: [
    { name: "guides", setup: embedGuides },
    { name: "types", setup: embedTypes },
    { name: "zx on Deno", setup: bundleZx },
  ],
};
const { success, logs, metafile } = await Bun.build({
  ...common,
  ...(values.outdir === undefined ? executable : folder),
});
if (!success) throw new Error(`the bundler failed: ${logs.join("\n")}`);
if (values.sources !== undefined) {
  const outputs = Object.values(metafile?.outputs ?? {});
  writeFileSync(values.sources, [...new Set(outputs.flatMap(({ inputs }) => Object.keys(inputs)))].sort().join("\n"));
}

/** The guides that `rampart help` prints are read from the repository; here they become part of the code. */
function embedGuides(builder: PluginBuilder): void {
  const paths = [...new Set(TOPICS.map(({ guide }) => guide))];
  const texts = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  builder.onLoad({ filter: /[/\\]cli[/\\]help[/\\]guides\.ts$/ }, () => ({
    contents: `const texts = ${JSON.stringify(texts)};\nexport const readGuide = (path: string): string => texts[path];`,
    loader: "ts",
  }));
}

/** The types that `rampart types` writes become part of the code. */
function embedTypes(builder: PluginBuilder): void {
  const text = makeDeclarations();
  builder.onLoad({ filter: /[/\\]cli[/\\]types[/\\]declarations\.ts$/ }, () => ({
    contents: `const text = ${JSON.stringify(text)};\nexport const readDeclarations = (): string => text;`,
    loader: "ts",
  }));
}

/** On Deno, zx requires a file of its package beside it, which a bundle has as code and not as a file. */
function bundleZx(builder: PluginBuilder): void {
  builder.onLoad({ filter: /[/\\]zx[/\\]build[/\\]core\.js$/ }, ({ path }) => {
    const text = readFileSync(path, "utf8");
    const contents = text.replace('globalThis.Deno ? globalThis.require("./core.cjs") : __module__', "__module__");
    if (contents === text) throw new Error(`${path}: zx loads its core in another way`);
    return { contents, loader: "ts" };
  });
}

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
