import { spawn } from "node:child_process";

/**
 * Waits for the end of its input, which is when this process has ended in whatever way. Then stops the process group that it was given, by
 * SIGTERM and a second later by SIGKILL.
 */
const formatScript = (groupId: number): string => `
PATH="$PATH:/usr/bin:/bin"
read _
kill -TERM -${groupId} 2>/dev/null || exit
sleep 1
kill -KILL -${groupId} 2>/dev/null
`;

/**
 * Has a process group stopped after this process has ended without doing so: by SIGKILL, or by a signal while its thread was blocked. POSIX
 * only. The shell is in a group of its own, which a Ctrl-C at the terminal does not reach, and does not keep this process alive.
 * @returns takes that back, once the group has ended
 */
export function stopAfterEnd(groupId: number): () => void {
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
