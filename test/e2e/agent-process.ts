import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { commandUnderTest } from "./command.ts";

/** `rampart agent` as users start it, on a bus. */

/** Agents of a test. */
export interface AgentsSetup {
  readonly count: number;
  /** The agents start in an empty folder below. */
  readonly folder: string;
  readonly busUrl: string;
  readonly options?: readonly string[] | undefined;
  /** Program and first arguments that start it, such as those of a host. Default: none. */
  readonly enter?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An agent, in a folder without any file of the run. */
export class AgentProcess {
  private readonly child: ChildProcess;
  private text = "";
  private readonly waiting = new Map<string, () => void>();

  constructor({ folder, busUrl, options = [], enter = [], env }: Omit<AgentsSetup, "count">) {
    const [program = "", ...first] = [...enter, ...commandUnderTest];
    const cwd = join(folder, "elsewhere");
    mkdirSync(cwd, { recursive: true });
    const args = [...first, "agent", "--bus", busUrl, ...options];
    this.child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.text += text;
      for (const [part, resolve] of this.waiting) if (this.text.includes(part)) resolve();
    });
  }

  async says(part: string): Promise<void> {
    if (this.text.includes(part)) return;
    await new Promise<void>((resolve) => this.waiting.set(part, resolve));
  }

  get name(): string {
    return /agent (\S+):/.exec(this.text)?.[1] ?? "";
  }

  /** Stops the process or lets it continue, without an end. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.child.kill(name);
  }

  /** @param signal absent: it ends by itself */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = once(this.child, "exit") as Promise<[number | null]>;
    if (signal !== undefined) this.child.kill(signal);
    return (await ended)[0];
  }
}

/** Starts agents, and ends them after `use`. */
export async function withAgentProcesses(
  setup: AgentsSetup,
  use: (agents: readonly AgentProcess[]) => Promise<void>,
): Promise<void> {
  const agents = Array.from({ length: setup.count }, () => new AgentProcess(setup));
  try {
    await Promise.all(agents.map((agent) => agent.says("waiting for runs")));
    await use(agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.end("SIGKILL")));
  }
}
