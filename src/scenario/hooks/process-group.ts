import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Processes with their children. Each process is the leader of a separate process group, which a Ctrl-C at the terminal does not
 * reach.
 */

const GRACE_MS = 10_000;
/** Time for the children of a process that has ended. */
const CHILDREN_GRACE_MS = 2000;
const POLL_MS = 20;
const isWindows = process.platform === "win32";

/** End of a process. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process and its children. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Resolves when the process itself has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Undefined while it runs. */
  end: ProcessEnd | undefined;

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = new Promise((resolve) => {
      const finish = (end: ProcessEnd): void => {
        this.end ??= end;
        resolve(this.end);
      };
      child.once("exit", (code, signal) => finish({ code, signal }));
      child.once("error", () => finish({ code: null, signal: null }));
    });
  }

  /** Whether the process or one of its children runs. */
  get isRunning(): boolean {
    return this.end === undefined || this.signal(0);
  }

  /** Sends a signal to all of them. Returns whether any exists. */
  signal(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.child;
    if (pid === undefined) return false;
    try {
      if (!isWindows) return process.kill(-pid, signal);
      if (this.end !== undefined) return false;
      if (signal !== 0) spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"]);
      return true;
    } catch {
      return false;
    }
  }

  /** Stops them with SIGTERM, and those that do not end in time with SIGKILL. @param graceMs time for the process itself */
  async stop(graceMs = GRACE_MS): Promise<void> {
    if (!this.signal("SIGTERM")) return;
    const timer = setTimeout(() => this.signal("SIGKILL"), graceMs);
    await this.ended;
    clearTimeout(timer);
    const deadlineMs = performance.now() + CHILDREN_GRACE_MS;
    while (this.signal(0) && hasLiveMember(this.child.pid) && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    this.signal("SIGKILL");
  }
}

/**
 * Whether a process of a group is running. In a container, ended processes may remain in their group, because nothing reaps them.
 */
function hasLiveMember(groupId: number | undefined): boolean {
  if (process.platform !== "linux") return true;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => {
    try {
      const [, state = "", group] =
        /^\d+ \(.*\) (\S) \d+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return Number(group) === groupId && !"ZX".includes(state);
    } catch {
      return false;
    }
  });
}

/** The processes of a run. */
export class ProcessGroups {
  private readonly groups = new Set<ProcessGroup>();
  private readonly byChild = new WeakMap<ChildProcess, ProcessGroup>();

  /** `child_process.spawn`, with the process in a separate group. */
  readonly spawn = ((command: string, args: readonly string[], options: object): ChildProcess => {
    const child = spawn(command, args, { ...options, detached: !isWindows });
    this.add(child);
    return child;
  }) as typeof spawn;

  /** Returns the group of a process that `spawn` started. */
  of(child: ChildProcess): ProcessGroup {
    return this.byChild.get(child) as ProcessGroup;
  }

  private add(child: ChildProcess): void {
    const group = new ProcessGroup(child);
    this.groups.add(group);
    this.byChild.set(child, group);
    const { pid } = child;
    const release = pid === undefined ? (): void => {} : stopAfterEnd(pid);
    void group.ended.then(() => {
      // The id of a group without members may be reused for another group.
      if (group.isRunning) return;
      this.groups.delete(group);
      release();
    });
  }

  /** Stops all processes. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.groups].map((group) => group.stop()));
  }

  /** Kills all processes immediately, without waiting. */
  killAll(): void {
    for (const group of this.groups) group.signal("SIGKILL");
  }
}

/**
 * Script that waits for the end of its input, which is when this process has ended for any reason. It then stops the given process group,
 * with SIGTERM and a second later with SIGKILL.
 */
const formatScript = (groupId: number): string => `
PATH="$PATH:/usr/bin:/bin"
read _
kill -TERM -${groupId} 2>/dev/null || exit
sleep 1
kill -KILL -${groupId} 2>/dev/null
`;

/**
 * Starts a shell that stops a process group if this process ends without doing so: by SIGKILL, or by a signal while its thread was blocked.
 * POSIX only. The shell is in a separate group, which a Ctrl-C at the terminal does not reach, and does not keep this process alive.
 * @returns a function that ends the shell, once the group has ended
 */
function stopAfterEnd(groupId: number): () => void {
  if (process.platform === "win32") return () => {};
  const child = spawn(formatScript(groupId), {
    shell: "/bin/sh",
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  (child.stdin as { unref?(): void } | null)?.unref?.();
  return () => void child.kill("SIGKILL");
}
