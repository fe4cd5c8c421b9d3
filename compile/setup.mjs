// Setup without dependencies. Runs on any Node, installs the packages (including Bun, Deno and a current Node), and runs the given script.
// Usage: node compile/setup.mjs [script.ts [arguments]]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWindows = process.platform === "win32";
const binaries = join(root, "node_modules", ".bin");
const stamp = join(root, "node_modules", ".rampart-setup");
const runtimes = ["bun", "deno", "node"];

if (needsInstall()) install();
const [script, ...rest] = process.argv.slice(2);
if (script !== undefined) drainRecords(script, rest);

/** The installation depends only on the lock file. */
function lockDigest() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

function needsInstall() {
  return !existsSync(stamp) || readFileSync(stamp, "utf8") !== lockDigest();
}

function install() {
  console.log("rampart: installing packages, including Bun, Deno and Node …");
  const startMs = Date.now();
  const result = spawnSync("npm", ["ci", "--loglevel=error", "--no-fund", "--no-audit"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: isWindows,
  });
  if (result.status !== 0) {
    fail(
      `npm ci failed${result.error === undefined ? "" : `: ${result.error.message}`}. Is the package registry reachable?`,
    );
  }
  for (const name of runtimes) {
    const { status, stdout } = spawnSync(join(binaries, name), ["--version"], { encoding: "utf8", shell: isWindows });
    if (status !== 0) fail(`${name} was installed but does not start; remove node_modules and try again.`);
    console.log(`  ${name} ${/\d+\.\d+\.\d+/.exec(stdout)?.[0]}`);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lockDigest());
  console.log(`rampart: installed in ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
}

function drainRecords(path, args) {
  const child = spawn(join(binaries, "node"), [path, ...args], { cwd: root, stdio: "inherit", shell: isWindows });
  // Ctrl-C at the terminal reaches the child directly; other signals to this process are forwarded.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}

function fail(message) {
  console.error(`rampart: setup failed: ${message}`);
  process.exit(1);
}
