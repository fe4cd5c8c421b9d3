import { randomUUID } from "node:crypto";
import { appendFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { BusPlan } from "../../../plan/plan.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import { type FileMirror, fileSystem } from "../../../runtime/files.ts";
import { VERSION } from "../../../runtime/version.ts";
import { openThreadSeat, type Seat, type SeatListener } from "../seat.ts";
import {
  type AgentInfo,
  type Claim,
  type ClaimReply,
  claimSubject,
  FIND_SUBJECT,
  linkSubjects,
  type SentPiece,
  type ToAgent,
  type ToConductor,
} from "./agent-messages.ts";
import { Link } from "./link.ts";
import { type GuardedBus, openBus } from "./nats-bus.ts";

/** What an agent tells whoever started it. */
export interface AgentEvents {
  ready(name: string): void;
  /** A run has begun. */
  began(): void;
  /** It is over. @param reason why it was cancelled; undefined: its conductor ended it */
  ended(reason: string | undefined): void;
}

/** An agent that waits for runs, and sends the loads of their conductors. */
export interface Agent {
  /** Ends a run that it takes part in, and leaves the bus. */
  close(): Promise<void>;
}

/**
 * Starts an agent. One agent takes part in one run at a time.
 * @throws RunError when the bus cannot be used, or lets everybody in: an agent runs the code of scenarios
 */
export async function startAgent(plan: BusPlan, events: AgentEvents): Promise<Agent> {
  const id = randomUUID().slice(0, 8);
  const name = `${hostname()}/${process.pid}`;
  const bus = await openBus(plan, `rampart agent ${name}`);
  if (!bus.isGuarded) {
    await bus.close();
    const hint = "Start the NATS server with users, a token, NKeys or client certificates.";
    throw new RunError("refused", "the bus lets everybody in, and an agent runs the code of scenarios", hint);
  }
  const agent = new BusAgent(bus, { id, name, version: VERSION, isBusy: false }, events);
  events.ready(name);
  return agent;
}

class BusAgent implements Agent {
  private readonly bus: GuardedBus;
  private readonly info: AgentInfo;
  private readonly events: AgentEvents;
  private run: AgentRun | undefined;

  constructor(bus: GuardedBus, info: AgentInfo, events: AgentEvents) {
    this.bus = bus;
    this.info = info;
    this.events = events;
    bus.subscribe(FIND_SUBJECT, (_, reply) => {
      bus.publish(reply, { ...info, isBusy: this.run !== undefined } satisfies AgentInfo);
    });
    bus.subscribe(claimSubject(info.id), (claim, reply) => bus.publish(reply, this.claim(claim as Claim)));
  }

  async close(): Promise<void> {
    await this.run?.end("it was stopped");
    await this.bus.close();
  }

  private claim({ runId, version }: Claim): ClaimReply {
    if (version !== this.info.version)
      return { isTaken: false, reason: `it is Rampart ${this.info.version}, and the run is of Rampart ${version}` };
    if (this.run?.runId === runId) return { isTaken: true };
    if (this.run !== undefined) return { isTaken: false, reason: "it takes part in another run" };
    this.events.began();
    this.run = new AgentRun(this.bus, runId, this.info.id, (reason) => {
      this.run = undefined;
      this.events.ended(reason);
    });
    return { isTaken: true };
  }
}

/** An agent's part in a run. */
class AgentRun {
  readonly runId: string;
  private readonly link: Link;
  private readonly onEnd: (reason: string | undefined) => void;
  private readonly seats = new Map<number, Seat>();
  private files: ReceivedFiles | undefined;
  private mirror: FileMirror | undefined;
  /** What came is handled in order, also while a file is written. */
  private handled: Promise<void> = Promise.resolve();
  private isEnding = false;

  constructor(bus: GuardedBus, runId: string, agentId: string, onEnd: (reason: string | undefined) => void) {
    this.runId = runId;
    this.onEnd = onEnd;
    const { send, receive } = linkSubjects(runId, agentId);
    this.link = new Link(
      bus,
      { send: receive, receive: send },
      {
        message: (value) => this.take(value as ToAgent),
        lost: (reason) => void this.end(`its conductor is gone: ${reason}`),
      },
    );
  }

  /** Ends all threads. @param reason set: why, where the conductor did not end it */
  async end(reason: string | undefined): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    if (reason !== undefined) this.send({ kind: "failed", reason });
    await Promise.all([...this.seats.values()].map((seat) => seat.end()));
    await this.files?.remove();
    this.onEnd(reason);
    if (reason === undefined) this.send({ kind: "ended" });
    await sleepUnless(LINGER_MS, this.link.drain());
    this.link.close();
  }

  private send(message: ToConductor): void {
    this.link.send(message);
  }

  private take(message: ToAgent): void {
    this.handled = this.handled
      .then(() => this.handle(message))
      .catch((error: unknown) => this.end(`it failed: ${messageOf(error)}`));
  }

  private handle(message: ToAgent): Promise<void> | void {
    if (this.isEnding) return;
    switch (message.kind) {
      case "sending-files":
        return this.expectFiles(message);
      case "file":
        return this.files?.add(message);
      case "open-seat":
        return this.openSeat(message.seat);
      case "task":
        this.seats.get(message.seat)?.post(message.task);
        return;
      case "end-seat":
        return this.endSeat(message.seat);
      case "end":
        return this.end(undefined);
    }
  }

  private async expectFiles({
    folder,
    totalBytes,
    hubCache,
  }: Extract<ToAgent, { kind: "sending-files" }>): Promise<void> {
    this.files = await ReceivedFiles.create(totalBytes);
    this.mirror = { root: this.files.root, folder, hubCache };
  }

  private openSeat(index: number): void {
    const listener: SeatListener = {
      event: (event) => this.send({ kind: "event", seat: index, event }),
      gone: (reason, isCode) => {
        if (this.seats.delete(index)) this.send({ kind: "gone", seat: index, reason, isCode });
      },
    };
    const seat = openThreadSeat(listener, this.mirror);
    this.seats.set(index, seat);
  }

  private async endSeat(index: number): Promise<void> {
    const seat = this.seats.get(index);
    this.seats.delete(index);
    await seat?.end();
    this.send({ kind: "seat-ended", seat: index });
  }
}

/** Longest wait for a confirmation of what was sent last. */
const LINGER_MS = 1000;

/** Files of this size or less are kept in memory, so that no key or secret among them reaches a disk. */
const MOST_MEMORY_BYTES = 256 * 1024 * 1024;
const MEMORY_FOLDER = "/dev/shm";

const FOLDER_NAME = "rampart-agent-";
/** A folder of an agent that is gone is removed after this time. */
const LEFT_MS = 3_600_000;

/** Removes what agents left that were killed. */
async function removeLeft(place: string): Promise<void> {
  for (const name of await readdir(place).catch((): string[] => [])) {
    const pid = new RegExp(`^${FOLDER_NAME}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || fileSystem().existsSync(`/proc/${pid}`)) continue;
    const path = join(place, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.uid !== process.getuid?.() || Date.now() - found.mtimeMs < LEFT_MS) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** The files of a conductor's host, on an agent's, while a run lasts. */
export class ReceivedFiles {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes room for files. */
  static async create(totalBytes: number): Promise<ReceivedFiles> {
    const isSmall = totalBytes <= MOST_MEMORY_BYTES && fileSystem().existsSync(MEMORY_FOLDER);
    const place = isSmall ? MEMORY_FOLDER : tmpdir();
    await removeLeft(place);
    // Only this user can read it.
    const root = await mkdtemp(join(place, `${FOLDER_NAME}${process.pid}-`));
    return new ReceivedFiles(root);
  }

  /** Adds a file, or the next piece of it. */
  async add({ path, bytes, isFirst }: SentPiece): Promise<void> {
    const place = join(this.root, resolve("/", path));
    if (isFirst) await mkdir(dirname(place), { recursive: true });
    await appendFile(place, bytes, { mode: 0o600 });
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
