import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { buildGo } from "./build-go.ts";

/** How the model answers. */
export interface LlmStubOptions {
  /** From a request to its first token; 0, the default: at once. */
  readonly ttftMs?: number;
  /** Between tokens; 0, the default: none. */
  readonly itlMs?: number;
  /** Of each answer. Default 100. */
  readonly tokens?: number;
  /** The address it listens on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Bytes that each connection reads into; a request must fit. Default: 64 KiB. */
  readonly bufferBytes?: number;
  /** The core it may run on, from 0 on; default: all. Needs taskset. */
  readonly core?: number;
}

/** What it counted since the last reset. Times are ns since its start. */
export interface LlmCounter {
  readonly requests: number;
  /** Tokens of streams, each an event of its own. */
  readonly chunks: number;
  readonly firstNs: number;
  readonly lastNs: number;
  readonly cpuUs: number;
  /** The most connections that were open at once, and the addresses that any came from, sorted. */
  readonly mostOpen: number;
  readonly hosts: readonly string[];
  /** When the server started, in milliseconds since the Unix epoch. */
  readonly startMs: number;
}

/** An answered request, in ns since the server's start: when its system got it, and right before its first and last token were written. */
export interface LlmStream {
  readonly receivedNs: number;
  readonly firstNs: number;
  readonly lastNs: number;
}

export interface LlmStub extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  counter(): Promise<LlmCounter>;
  /** The requests since a reset with `isLogging`, in the order in which they ended. */
  log(): Promise<LlmStream[]>;
  reset(isLogging?: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the Go server of ./llm-stub on loopback. Needs `go`; dies with this process. */
export async function startLlmStub({
  ttftMs = 0,
  itlMs = 0,
  tokens = 100,
  host = "127.0.0.1",
  bufferBytes = 1 << 16,
  core,
}: LlmStubOptions = {}): Promise<LlmStub> {
  const executable = await buildGo("llm-stub");
  const listening = ["-host", host, "-buffer", String(bufferBytes)];
  const args = [...listening, "-ttft", `${ttftMs}ms`, "-itl", `${itlMs}ms`, "-tokens", String(tokens)];
  const [program = "", ...rest] = [...(core === undefined ? [] : ["taskset", "-c", String(core)]), executable, ...args];
  const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(() => Promise.reject(new Error("the stub ended before it was ready"))),
  ]);
  const { port, control } = JSON.parse(String(line)) as { port: number; control: number };
  const ask = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${control}/${path}`, { headers: { connection: "close" } })).text();
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL"); // it keeps nothing that would need a clean end
    await ended;
  };
  return {
    port,
    pid: child.pid as number,
    counter: async () => JSON.parse(await ask("counter")) as LlmCounter,
    log: async () => (JSON.parse(await ask("log")) as LlmStream[] | null) ?? [],
    reset: async (isLogging = false) => void (await ask(isLogging ? "reset?log" : "reset")),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
