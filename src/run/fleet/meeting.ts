import { lstat, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RunError } from "../../plan/problem.ts";
import { sleepMs } from "../../runtime/clock.ts";
import { loadFileText } from "../../runtime/files.ts";
import type { Launch } from "../../runtime/launch/launcher.ts";
import type { MpiWorld } from "../../runtime/launch/mpi.ts";

/** Exchange between processes that were started together, by which they find rank 0. */
export interface Meeting {
  /** 0 to `size` - 1. */
  readonly rank: number;
  readonly size: number;
  /** Whether `hear` may be called again, and may then return another text. */
  readonly mayHearAgain: boolean;
  /** Sends the text of rank 0 to all others. */
  tell(text: string): Promise<void>;
  /** Returns the text of rank 0. @param endMs end of the wait if the text is in a file, in milliseconds since the Unix epoch */
  hear(endMs: number): Promise<string>;
  /** Leaves the exchange. */
  end(): Promise<void>;
}

const POLL_MS = 2;
const LOOK_MS = 100;

/** Returns the exchange of an MPI job: the text is sent with MPI. */
export function mpiMeeting(world: MpiWorld): Meeting {
  return {
    rank: world.rank,
    size: world.size,
    mayHearAgain: false,
    tell: async (text) => {
      for (let rank = 1; rank < world.size; rank++) sendText(world, rank, text);
    },
    hear: () => receiveText(world),
    end: async () => world.finalize(),
  };
}

/** Sends a text in 32-bit integers: its length, then its characters. */
function sendText(world: MpiWorld, rank: number, text: string): void {
  const bytes = Buffer.from(text);
  world.send(rank, bytes.length);
  for (const byte of bytes) world.send(rank, byte);
}

async function receiveText(world: MpiWorld): Promise<string> {
  const next = async (): Promise<number> => {
    for (;;) {
      const received = world.receive();
      if (received !== undefined) return received.value;
      await sleepMs(POLL_MS);
    }
  };
  const bytes = new Uint8Array(await next());
  for (let at = 0; at < bytes.length; at++) bytes[at] = await next();
  return Buffer.from(bytes).toString();
}

/**
 * Returns the exchange of a step of Slurm: the text is a file in the folder in which srun starts its tasks, which the hosts share. Only its
 * user can read the file.
 */
export function slurmMeeting(
  { rank, size, step }: Pick<Extract<Launch, { readonly kind: "slurm" }>, "rank" | "size" | "step">,
  folder: string,
): Meeting {
  const path = join(folder, `.rampart-${step}`);
  const hint = "Start it in a folder that all hosts share, or use mpirun, or agents.";
  return {
    rank,
    size,
    mayHearAgain: true,
    tell: async (text) => {
      // Renamed when complete, so that readers never see a part of it.
      const draft = `${path}.${process.pid}`;
      try {
        await writeFile(draft, text, { mode: 0o600, flag: "wx" });
        await rename(draft, path);
      } catch (error) {
        throw new RunError("refused", `the tasks of a step of Slurm meet by ${path}: ${messageOf(error)}`, hint);
      }
    },
    hear: async (endMs) => {
      for (;;) {
        const text = await readOwn(path);
        if (text !== undefined) return text;
        if (Date.now() > endMs)
          throw new RunError("unreachable", `task 0 of this step of Slurm wrote no ${path}`, hint);
        await sleepMs(LOOK_MS);
      }
    },
    end: async () => {
      if (rank === 0) await rm(path, { force: true });
    },
  };
}

/**
 * Returns the text of a file that belongs to this process's user; undefined otherwise. The check matters because a task runs the code
 * that its conductor sends.
 */
async function readOwn(path: string): Promise<string | undefined> {
  try {
    const file = await lstat(path);
    return file.isFile() && file.uid === process.getuid?.() ? await loadFileText(path) : undefined;
  } catch {
    return undefined;
  }
}
