import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../install-once.ts";
import { endGroup, hasEnded, signalGroup } from "../process-group.ts";

/** Real servers as processes on loopback: started, awaited, and ended with all that they started. */

/** How to start a server. */
export interface ServerCommand {
  /** For its log and for errors. */
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it answers. Absent: it is not awaited. */
  isReady?(): Promise<boolean>;
}

/** A running server. */
export interface ServerProcess {
  readonly logFile: string;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 100;
const STOP_TIMEOUT_MS = 6_000;
const LOG_TAIL_LINES = 30;
const ASK_TIMEOUT_MS = 2_000;

/** Starts a server and waits until it is ready. @throws with the end of its log when it ends early or is not ready in time */
export async function startServerProcess(of: ServerCommand): Promise<ServerProcess> {
  const folder = join(cacheFolder, "logs");
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, `${of.name}-${process.pid}-${Date.now()}.log`);
  const log = openSync(logFile, "w");
  const [program, ...args] = of.command;
  // A process group of its own, so that the processes of a server end with it.
  const options = { stdio: ["ignore", log, log] as ["ignore", number, number], detached: true };
  const where = { env: { ...process.env, ...of.env }, ...(of.cwd === undefined ? {} : { cwd: of.cwd }) };
  const child = spawn(program, args, { ...options, ...where });
  closeSync(log);
  const onExit = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", onExit);
  const stop = async (): Promise<void> => {
    process.off("exit", onExit);
    await endGroup(child, STOP_TIMEOUT_MS);
  };
  try {
    await waitUntilReady(child, of, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { logFile, stop };
}

async function waitUntilReady(child: ChildProcess, { name, isReady }: ServerCommand, logFile: string): Promise<void> {
  if (isReady === undefined) return;
  let spawnError: Error | undefined;
  child.once("error", (error) => {
    spawnError = error;
  });
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady())) {
    const reason = spawnError?.message ?? (hasEnded(child) ? "it ended" : Date.now() > deadlineMs ? "it is late" : "");
    if (reason !== "") {
      const tail = readFileSync(logFile, "utf8").split("\n").slice(-LOG_TAIL_LINES).join("\n");
      throw new Error(`${name} did not start: ${reason}\n${tail}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS)); // None of them signals when it is ready.
  }
}

/** Whether a GET has a good answer. @param says what its text contains; default: anything */
export async function answers(url: string, says = ""): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
    const text = await response.text();
    return response.ok && text.includes(says);
  } catch {
    return false;
  }
}
