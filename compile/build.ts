import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import { alignCode } from "./align-code.ts";

/** The steps that build an executable. */

const root = join(import.meta.dirname, "..");
const bun = join(root, "node_modules", ".bin", "bun");

/** Runs Bun's bundler. @param flags those of `bundle.ts` */
export async function build(path: string, flags: readonly string[] = []): Promise<void> {
  await $({ cwd: root, quiet: true })`${bun} compile/bundle.ts --outfile ${path} ${flags}`;
}

/** Writes the executable as a new file in one write, so that the page cache uses large pages. That saves about 1 ms of 10 at the start. */
export function install(built: string, path: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, alignCode(readFileSync(built)), { mode: 0o755 });
}

/** Returns the line of a file in a list of checksums. */
export function checksumLine(path: string): string {
  const digest = createHash("sha256").update(readFileSync(path)).digest("hex");
  return `${digest}  ${path.slice(path.lastIndexOf("/") + 1)}\n`;
}

/**
 * Runs perf_analyzer mode over both protocols against the mock and records the order of first calls.
 * @param folder receives the files
 * @returns their paths
 */
export async function recordOrders(executable: string, folder: string): Promise<string[]> {
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
      const order = join(folder, `order-${protocol}`);
      const flags = ["-m", "simple", "-b", "8", "-i", protocol, "-u", `127.0.0.1:${port}`, "--request-count", "200"];
      const env = { ...process.env, BUN_BYTECODE_ORDER_OUT: order };
      await $({ env, quiet: true })`${executable} perf_analyzer ${flags}`;
      if (existsSync(order)) orders.push(order);
    }
    return orders;
  } finally {
    mock.kill("SIGINT");
  }
}
