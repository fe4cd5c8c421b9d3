import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads `+ GROUP` and `- GROUP` lines. When its input ends, which is when this process has ended in whatever way, it stops the groups that are
 * left: by SIGTERM, and a second later by SIGKILL.
 */
const SCRIPT = `
PATH="$PATH:/usr/bin:/bin"
groups=
while read -r change group; do
  left=
  for other in $groups; do [ "$other" = "$group" ] || left="$left $other"; done
  [ "$change" = + ] && left="$left $group"
  groups=$left
done
found=
for group in $groups; do kill -TERM -"$group" 2>/dev/null && found=1; done
[ -z "$found" ] && exit
sleep 1
for group in $groups; do kill -KILL -"$group" 2>/dev/null; done
`;

/** Stops process groups after this process has ended without doing so: by SIGKILL, or by a signal while its thread was blocked. POSIX only. */
export class Reaper {
  private child: ChildProcess | undefined;

  add(groupId: number): void {
    if (process.platform === "win32") return;
    this.child ??= startShell();
    this.write(`+ ${groupId}\n`);
  }

  remove(groupId: number): void {
    this.write(`- ${groupId}\n`);
  }

  private write(line: string): void {
    this.child?.stdin?.write(line);
  }
}

/** The shell is in a group of its own, which a Ctrl-C at the terminal does not reach, and does not keep this process alive. */
function startShell(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  (child.stdin as { unref?(): void } | null)?.unref?.();
  return child;
}
