import { spawnSync } from "node:child_process";
import { rampartCommand } from "../cli/rampart-process.ts";
import { installTool } from "../servers/install-tool.ts";

/** A real terminal that a test types into, by tmux. */

const TIMEOUT_MS = 120_000;
const POLL_MS = 40;
let count = 0;

/** Installs tmux where it is missing. Throws when that fails. */
export function ensureTmux(): void {
  installTool("tmux");
}

/** One command in a terminal of its own. */
export class Terminal {
  private readonly socket = `rampart-${process.pid}-${++count}`;

  /** Starts `rampart ARGS`. */
  constructor(args: readonly string[], cwd: string, columns = 150) {
    const command = [...rampartCommand(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    this.tmux("-f", "/dev/null", "new-session", "-d", "-x", `${columns}`, "-y", "80", "-c", cwd, "cat");
    this.tmux("set-option", "-g", "remain-on-exit", "on");
    // A shell tells the exit code, because tmux does not always; it outlives Ctrl-C.
    this.tmux("respawn-pane", "-k", "-c", cwd, `trap : INT; ${command}; echo "exit code $?"`);
  }

  /** What the terminal shows, with what scrolled away. */
  screen(): string {
    return this.tmux("capture-pane", "-p", "-S", "-500").trimEnd();
  }

  /** Presses keys, in tmux's names: `Enter`, `Down`, `C-c`. */
  press(...keys: string[]): void {
    this.tmux("send-keys", ...keys);
  }

  /** Types text over what stands in the field, and presses Enter. */
  replace(text: string): void {
    this.tmux("send-keys", "-N", "40", "BSpace");
    this.tmux("send-keys", "-l", text);
    this.press("Enter");
  }

  /** Waits until the terminal shows a pattern. */
  async waitFor(pattern: RegExp): Promise<void> {
    await this.poll(() => pattern.test(this.screen()), `never showed ${pattern}`);
  }

  /** Waits until the question stands there to be answered. */
  async asks(question: string): Promise<void> {
    const isAsking = (): boolean => {
      const last = this.screen()
        .split("\n")
        .filter((line) => /^[◆▲◇]/.test(line))
        .at(-1);
      return last !== undefined && !last.startsWith("◇") && last.includes(question);
    };
    await this.poll(isAsking, `never asked '${question}'`);
  }

  /** The exit code, once the command has ended. */
  async exitCode(): Promise<number> {
    const pattern = /^exit code (\d+)$/m;
    await this.waitFor(pattern);
    return Number(pattern.exec(this.screen())?.[1]);
  }

  close(): void {
    spawnSync("tmux", ["-L", this.socket, "kill-server"]);
  }

  private async poll(isMet: () => boolean, failure: string): Promise<void> {
    const endMs = performance.now() + TIMEOUT_MS;
    while (!isMet()) {
      if (performance.now() > endMs) throw new Error(`the terminal ${failure}:\n${this.screen()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  private tmux(...args: string[]): string {
    const env = { ...process.env, LANG: "C.UTF-8", TERM: "xterm-256color" };
    const { status, stdout, stderr } = spawnSync("tmux", ["-u", "-L", this.socket, ...args], { encoding: "utf8", env });
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  }
}
