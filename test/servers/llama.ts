import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpackDebs } from "../bench/peers/apt.ts";
import { findFreePorts } from "./free-ports.ts";
import { cacheFolder, installOnce } from "./install-once.ts";
import { buildTinyLlama } from "./tiny-llama.ts";

/** The real llama.cpp server with a tiny model, on loopback. */
export interface Llama {
  readonly port: number;
  readonly logFile: string;
  stop(): Promise<void>;
}

const RELEASE = "forky";
const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 5_000;

/**
 * Starts the server, which is installed first where it is missing: Debian's packages, unpacked beside each other.
 * @param isEmbedding it then answers with embeddings, and nothing else
 * @throws when it cannot be installed or does not start, with the end of its log
 */
export async function startLlama({ isEmbedding = false } = {}): Promise<Llama> {
  const folder = await installLlama();
  const [port] = await findFreePorts(1);
  const logFolder = join(cacheFolder, "logs");
  mkdirSync(logFolder, { recursive: true });
  const logFile = join(logFolder, `llama-${port}.log`);
  const log = openSync(logFile, "w");
  const libraries = join(folder, "root/usr/lib/x86_64-linux-gnu");
  // One thread: of such a small model two would only wait for each other.
  const flags = ["-m", join(folder, "tiny.gguf"), "--alias", "tiny", "--host", "127.0.0.1", "--port", String(port)];
  flags.push("-c", "65536", "-np", "16", "-t", "1", "-tb", "1", "--metrics", "--no-ui");
  flags.push(...(isEmbedding ? ["--embeddings", "--pooling", "mean"] : ["--ignore-eos"]));
  const search = [libraries, join(libraries, "ggml/backends0"), join(libraries, "llama")].join(":");
  const loader = [join(libraries, "ld-linux-x86-64.so.2"), "--library-path", search, "--argv0", "llama-server"];
  const [program, ...args] = [...loader, join(folder, "root/usr/bin/llama-server"), ...flags];
  const child = spawn(program as string, args, { stdio: ["ignore", log, log] });
  closeSync(log);
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  const stop = async (): Promise<void> => {
    process.off("exit", onExit);
    await end(child);
  };
  try {
    await waitUntilReady(child, port, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, logFile, stop };
}

function installLlama(): Promise<string> {
  return installOnce(`llama-${RELEASE}`, "tiny.gguf", async (draft) => {
    const root = join(draft, "root");
    await unpackDebs(RELEASE, ["llama.cpp-tools"], root, { withDependencies: true });
    const libraries = join(root, "usr/lib/x86_64-linux-gnu");
    // It looks for its backends beside the program, which here is the loader.
    for (const name of readdirSync(join(libraries, "ggml/backends0")))
      if (name.endsWith(".so")) symlinkSync(join("ggml/backends0", name), join(libraries, name));
    writeFileSync(join(draft, "tiny.gguf"), buildTinyLlama());
  });
}

async function waitUntilReady(child: ChildProcess, port: number, logFile: string): Promise<void> {
  let spawnError: Error | undefined;
  child.once("error", (error) => {
    spawnError = error;
  });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(port))) {
    const reason = spawnError?.message ?? (hasEnded(child) ? "it ended" : Date.now() > deadline ? "it is late" : "");
    if (reason !== "") {
      const tail = readFileSync(logFile, "utf8").split("\n").slice(-25).join("\n");
      throw new Error(`llama.cpp's server did not start: ${reason}\n${tail}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50)); // The server does not signal when it is ready.
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/**
 * Repeats a run, nine times at most, in which llama.cpp closed a kept connection and the client read that more than 10 ms after it sent a request:
 * on a busy machine that happens, and the request fails rightly.
 */
export async function untilNoneWasClosed<T>(run: () => Promise<T>): Promise<T> {
  for (let left = 9; ; left--) {
    try {
      return await run();
    } catch (error) {
      if (left === 0 || !/server closed the connection/.test(String(error))) throw error;
    }
  }
}
