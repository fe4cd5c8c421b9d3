import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { $, cd, chalk, echo } from "zx";
import { alignCode } from "./align-code.ts";
import { smokeTest } from "./smoke-test.ts";

/**
 * `npm run compile [-- --target TARGET] [--outfile FILE]`: builds the executable with Bun and its checksum file, by default dist/rampart
 * for this host, and smoke-tests it.
 */

const root = join(import.meta.dirname, "..");
const bun = join(root, "node_modules", ".bin", "bun");
const work = join(root, "dist", ".build");
/** npm packages with the Bun runtime of other hosts. */
const BUN_PACKAGES: Readonly<Record<string, string>> = {
  "bun-linux-x64": "@oven/bun-linux-x64",
  "bun-linux-x64-baseline": "@oven/bun-linux-x64-baseline",
  "bun-linux-arm64": "@oven/bun-linux-aarch64",
  "bun-darwin-x64": "@oven/bun-darwin-x64",
  "bun-darwin-arm64": "@oven/bun-darwin-aarch64",
  "bun-windows-x64": "@oven/bun-windows-x64",
};

const { values } = parseArgs({ options: { target: { type: "string" }, outfile: { type: "string" } } });
cd(root);
$.quiet = true;
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const startMs = Date.now();
const outfile = join(
  root,
  values.outfile ??
    (values.target === undefined ? "dist/rampart" : `dist/rampart-${values.target}${suffixOf(values.target)}`),
);
if (values.target === undefined) await compileForHost(outfile);
else await compileForTarget(values.target, outfile);
const digest = createHash("sha256").update(readFileSync(outfile)).digest("hex");
writeFileSync(`${outfile}.sha256`, `${digest}  ${outfile.slice(outfile.lastIndexOf("/") + 1)}\n`);
rmSync(work, { recursive: true, force: true });
const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
echo(
  `compiled ${chalk.bold(outfile.slice(root.length + 1))} (${megabytes} MB) in ${((Date.now() - startMs) / 1000).toFixed(1)} s, sha256 ${digest}`,
);
if (values.target === undefined) {
  await smokeTest(outfile);
  echo("smoke test passed");
}

function suffixOf(target: string): string {
  return target.includes("windows") ? ".exe" : "";
}

/** Builds twice: the first build records the order of first calls, and the second is laid out in that order. */
async function compileForHost(path: string): Promise<void> {
  const plain = join(work, "plain");
  await build(plain);
  const orders = await recordOrders(plain);
  const ordered = join(work, "ordered");
  await build(
    ordered,
    orders.map((order) => `--order=${order}`),
  );
  install(ordered, path);
}

/** Writes the executable as a new file in one write, so that the page cache uses large pages. That saves about 1 ms of 10 at the start. */
function install(built: string, path: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, alignCode(readFileSync(built)), { mode: 0o755 });
}

async function compileForTarget(target: string, path: string): Promise<void> {
  const flags = [`--target=${target}`];
  const packageName = BUN_PACKAGES[target];
  const binary = `bun${suffixOf(target)}`;
  const runtime = packageName === undefined ? "" : join(root, "node_modules", packageName, "bin", binary);
  // Without the package, Bun downloads the runtime.
  if (existsSync(runtime)) flags.push(`--runtime=${runtime}`);
  const built = join(work, `other${extname(path)}`);
  await build(built, flags);
  install(built, path);
}

async function build(path: string, flags: readonly string[] = []): Promise<void> {
  await $`${bun} compile/bundle.ts --outfile ${path} ${flags}`;
}

/** Runs perf_analyzer mode over both protocols against the mock and records the order of first calls. */
async function recordOrders(executable: string): Promise<string[]> {
  const mock = spawn(executable, ["mock", "--http-port", "0", "--grpc-port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const line = await new Promise<string>((resolve, reject) => {
      mock.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString()));
      mock.once("exit", (code) => reject(new Error(`the mock ended with ${code}`)));
    });
    const orders: string[] = [];
    for (const protocol of ["http", "grpc"]) {
      const port = new RegExp(`${protocol} 127\\.0\\.0\\.1:(\\d+)`).exec(line)?.[1];
      const order = join(work, `order-${protocol}`);
      const flags = ["-m", "simple", "-b", "8", "-i", protocol, "-u", `127.0.0.1:${port}`, "--request-count", "200"];
      await $({ env: { ...process.env, BUN_BYTECODE_ORDER_OUT: order } })`${executable} perf_analyzer ${flags}`;
      if (existsSync(order)) orders.push(order);
    }
    return orders;
  } finally {
    mock.kill("SIGINT");
  }
}
