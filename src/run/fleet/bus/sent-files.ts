import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Plan } from "../../../plan/plan.ts";
import { noteOpenedFiles } from "../../../runtime/files.ts";
import { hubCacheFolder } from "../../../tokenize/hub-cache.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { SentPiece, ToAgent } from "./agent-messages.ts";
import type { SentLink, SentModules } from "./sent-modules.ts";

/** Files of this host that the agents need: those that this process reads while it opens the run, and the scenario if it has functions. */

/** Files of this host that a run reads. */
export interface SentFiles extends SentModules {
  /** Base folder of relative paths. */
  readonly folder: string;
  /** Cache of tokenizers. */
  readonly hubCache: string;
}

/** Records which files a run reads. */
export interface NotedFiles {
  /** Stops recording and returns the files. Call when the run is opened. */
  end(plan: Plan): Promise<SentFiles>;
}

/** Starts recording the files of a run. @param modules modules of the scenario, which the runtime reads */
export function noteRunFiles(modules: SentModules): NotedFiles {
  const end = noteOpenedFiles();
  return {
    end: async (plan) => {
      // The agents load it to count tokens; this process does not count any. If it cannot be loaded, they report that.
      const { tokens } = plan.measurement;
      if (tokens !== undefined) await loadTokenizer(tokens.tokenizer, { revision: tokens.revision }).catch(() => {});
      const paths = [...new Set([...modules.paths, ...end()])].filter((path) => existsSync(path));
      return { paths, links: modules.links, folder: process.cwd(), hubCache: resolve(hubCacheFolder(process.env)) };
    },
  };
}

/** Size of a piece. */
const MOST_PIECE_BYTES = 256 * 1024;
const LEAST_PIECE_BYTES = 1024;
/** Space for the other fields of a message, above all the path. */
const ROOM_BYTES = 8 * 1024;
/** After this many bytes sent to all agents, each agent is asked what it has received. */
const MOST_OPEN_BYTES = 8 * 1024 * 1024;

/** Sends messages to all agents of a run at once. An agent may miss some of them. */
export interface FileCast {
  /** Maximum size of a message. */
  readonly mostBytes: number;
  publish(piece: SentPiece): void;
}

export interface FileReceiver {
  send(message: ToAgent): void;
  /** Asks for the numbers, below `count`, of the pieces that it lacks. @throws RunError when it is lost */
  findMissing(count: number): Promise<readonly number[]>;
  /** Resolves when it has received everything that was sent to it alone. */
  drain(): Promise<void>;
}

/** Sends files to all agents at once, as fast as the slowest of them receives them. @throws RunError when one of them is lost */
export async function sendFiles(
  { paths, links, folder, hubCache }: SentFiles,
  receivers: readonly FileReceiver[],
  cast: FileCast,
): Promise<void> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
  for (const receiver of receivers) receiver.send({ kind: "sending-files", folder, hubCache, links, totalBytes });
  const pieceBytes = Math.max(LEAST_PIECE_BYTES, Math.min(MOST_PIECE_BYTES, cast.mostBytes - ROOM_BYTES));
  let open: SentPiece[] = [];
  let count = 0;
  for (const path of paths)
    for await (const piece of piecesOf(path, pieceBytes)) {
      const numbered: SentPiece = { ...piece, number: count++ };
      open.push(numbered);
      cast.publish(numbered);
      if (open.length * pieceBytes < MOST_OPEN_BYTES) continue;
      await settle(receivers, open, count);
      open = [];
    }
  await settle(receivers, open, count);
}

/** Sends to each agent the pieces that it has missed. */
async function settle(receivers: readonly FileReceiver[], open: readonly SentPiece[], count: number): Promise<void> {
  if (open.length === 0) return;
  await Promise.all(
    receivers.map(async (receiver) => {
      const missing = await receiver.findMissing(count);
      for (const piece of open) if (missing.includes(piece.number)) receiver.send(piece);
      if (missing.length > 0) await receiver.drain();
    }),
  );
}

async function* piecesOf(path: string, pieceBytes: number): AsyncGenerator<Omit<SentPiece, "number">> {
  const handle = await open(path, "r");
  try {
    let isFirst = true;
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0 && !isFirst) return;
      yield { kind: "file", path, bytes: buffer.subarray(0, bytesRead), isFirst };
      isFirst = false;
      if (bytesRead === 0) return;
    }
  } finally {
    await handle.close();
  }
}

/** Files are kept in memory up to this total size, so that keys and secrets among them never reach a disk. */
const MOST_MEMORY_BYTES = 256 * 1024 * 1024;
const MEMORY_FOLDER = "/dev/shm";
const FOLDER_NAME = "rampart-agent-";
/** Folders of agents that no longer run are removed after this time. */
const LEFT_MS = 3_600_000;

/**
 * Copies of the conductor host's files on an agent's host, for the length of a run. They are written synchronously: pieces arrive no
 * faster than the disk writes.
 */
export class ReceivedFiles {
  readonly root: string;
  /** Pieces that arrived before an earlier one, by number. */
  private readonly early = new Map<number, SentPiece>();
  private nextNumber = 0;

  /** Creates the folder of the files. */
  constructor(totalBytes: number) {
    const isSmall = totalBytes <= MOST_MEMORY_BYTES && existsSync(MEMORY_FOLDER);
    const place = isSmall ? MEMORY_FOLDER : tmpdir();
    removeLeft(place);
    // Only this user can read the folder.
    this.root = mkdtempSync(join(place, `${FOLDER_NAME}${process.pid}-`));
  }

  /** Adds a piece. Pieces after a missing one wait for it, and repeated pieces are ignored. */
  add(piece: SentPiece): void {
    if (piece.number >= this.nextNumber) this.early.set(piece.number, piece);
    for (let next = this.early.get(this.nextNumber); next !== undefined; next = this.early.get(this.nextNumber)) {
      this.early.delete(this.nextNumber++);
      this.write(next);
    }
  }

  /** Returns the numbers of the missing pieces among the first `count`. */
  findMissing(count: number): readonly number[] {
    const numbers = Array.from({ length: Math.max(0, count - this.nextNumber) }, (_, at) => this.nextNumber + at);
    return numbers.filter((number) => !this.early.has(number));
  }

  private write({ path, bytes, isFirst }: SentPiece): void {
    const place = this.placeOf(path);
    if (isFirst) mkdirSync(dirname(place), { recursive: true });
    // A link may lead to an existing file.
    (isFirst ? writeFileSync : appendFileSync)(place, bytes, { mode: 0o600 });
  }

  /** Adds a link to a file or folder among these files. */
  addLink({ path, target }: SentLink): void {
    const place = this.placeOf(path);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(this.placeOf(target), place);
  }

  private placeOf(path: string): string {
    return join(this.root, resolve("/", path));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Removes folders that killed agents left behind. */
function removeLeft(place: string): void {
  const pidOf = new RegExp(`^${FOLDER_NAME}(\\d+)-`);
  for (const [pid, names] of Map.groupBy(readdirSync(place), (name) => pidOf.exec(name)?.[1])) {
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    for (const path of names.map((name) => join(place, name))) {
      const found = statSync(path, { throwIfNoEntry: false });
      const isLeft = found?.uid === process.getuid?.() && Date.now() - (found?.mtimeMs ?? Date.now()) > LEFT_MS;
      if (isLeft) rmSync(path, { recursive: true, force: true });
    }
  }
}
