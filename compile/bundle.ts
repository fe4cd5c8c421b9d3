import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { TOPICS } from "../src/cli/help/topics.ts";

/**
 * `bun compile/bundle.ts --outfile FILE [--order FILE]… [--target TARGET] [--runtime FILE]`: makes the executable, with Bun's bundler, which
 * only Bun has. `compile.ts` calls it. With `--outdir FOLDER` instead it writes JavaScript, which `compile-deno.ts` embeds.
 */

/** The part of Bun's bundler that is used here. */
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
    outdir: { type: "string" },
    order: { type: "string", multiple: true },
    target: { type: "string" },
    runtime: { type: "string" },
  },
});
const { Bun } = globalThis as unknown as { Bun: BunBundler };
const common = {
  entrypoints: [entry, join(root, "src", "worker.ts")],
  format: "esm",
  minify: true,
  // Only what a command needs is loaded …
  splitting: true,
};
const executable = {
  target: "bun",
  minChunkSize: 16384,
  // … and it starts without parsing or compiling; `endStartUp` in runtime.ts ends that policy.
  bytecode: true,
  compile: {
    outfile: values.outfile,
    jitPolicy: 100,
    ...(values.order === undefined ? {} : { bytecodeOrder: values.order }),
    ...(values.target === undefined ? {} : { target: values.target }),
    ...(values.runtime === undefined ? {} : { executablePath: values.runtime }),
    // The user's .env and bunfig.toml are none of ours.
    autoloadDotenv: false,
    autoloadBunfig: false,
    // Packages beside a scenario say in their package.json what importing them means.
    autoloadPackageJson: true,
  },
  plugins: [
    { name: "guides", setup: embedGuides },
    { name: "start in one chunk", setup: keepStartTogether },
  ],
};
const folder = { target: "node", outdir: values.outdir, plugins: [{ name: "guides", setup: embedGuides }] };
const { success, logs } = await Bun.build({ ...common, ...(values.outdir === undefined ? executable : folder) });
if (!success) throw new Error(`the bundler failed: ${logs.join("\n")}`);

/** The guides that `rampart help` prints are read from the repository; here they become part of the code. */
function embedGuides(builder: PluginBuilder): void {
  const paths = [...new Set(TOPICS.map(({ guide }) => guide))];
  const texts = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  builder.onLoad({ filter: /[/\\]cli[/\\]help[/\\]guides\.ts$/ }, () => ({
    contents: `const texts = ${JSON.stringify(texts)};\nexport const readGuide = (path: string): string => texts[path];`,
    loader: "ts",
  }));
}

/**
 * Bun puts modules that the same imports lead to into one chunk. What the entry imports statically is needed at every start, and is reached from
 * some of the lazily loaded modules too, a different part of it from each: about 20 chunks, which take time to load. Here each of those
 * modules is made to import all of it, which is loaded by then, so that it becomes one chunk: a start is sooner by 0.15 ms of 8.
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
