import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { BusPlan } from "../../../plan/plan.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { FileMirror } from "../../../runtime/files.ts";
import { VERSION } from "../../../runtime/this-program.ts";
import { openThreadSeat, type Seat, type SeatListener } from "../seat.ts";
import {
  type AgentInfo,
  type Claim,
  type ClaimReply,
  claimSubject,
  FIND_SUBJECT,
  filesSubject,
  linkSubjects,
  type ToAgent,
  type ToConductor,
} from "./agent-messages.ts";
import { Link, type LinkSubjects } from "./link.ts";
import { type GuardedBus, openBus } from "./nats-bus.ts";
import { ReceivedFiles } from "./sent-files.ts";

/** Events of an agent, for the process that started it. */
export interface AgentEvents {
  ready(name: string): void;
  began(): void;
  /** The run is over. @param reason why it was cancelled; undefined: its conductor ended it */
  ended(reason: string | undefined): void;
}

/** An agent: waits for runs, and sends the loads of their conductors. */
export interface Agent {
  /** Ends its current run, and leaves the bus. */
  close(): Promise<void>;
}

/**
 * Starts an agent. One agent takes part in one run at a time.
 * @param openSeat starts a sender. Default: a thread
 * @param name names of its host and of its process there
 * @throws RunError when the bus cannot be used, or has no access control: an agent runs the code of scenarios
 */
export async function startAgent(
  plan: BusPlan,
  events: AgentEvents,
  openSeat = openThreadSeat,
  name = `${hostname()}/${process.pid}`,
): Promise<Agent> {
  const id = randomUUID().slice(0, 8);
  const bus = await openBus(plan, `rampart agent ${name}`);
  if (!bus.isGuarded) {
    await bus.close();
    const hint = "Start the NATS server with users, a token, NKeys or client certificates.";
    throw new RunError("refused", "the bus lets everybody in, and an agent runs the code of scenarios", hint);
  }
  const agent = new BusAgent(bus, { id, name, version: VERSION, isBusy: false }, events, openSeat);
  events.ready(name);
  return agent;
}

class BusAgent implements Agent {
  private readonly bus: GuardedBus;
  private readonly info: AgentInfo;
  private readonly events: AgentEvents;
  private readonly openSeat: typeof openThreadSeat;
  private run: AgentRun | undefined;

  constructor(bus: GuardedBus, info: AgentInfo, events: AgentEvents, openSeat: typeof openThreadSeat) {
    this.bus = bus;
    this.info = info;
    this.events = events;
    this.openSeat = openSeat;
    bus.subscribe(FIND_SUBJECT, (_, reply) => {
      const { run } = this;
      const waitingRunId = run?.isWaiting === true ? { waitingRunId: run.runId } : {};
      bus.publish(reply, { ...info, isBusy: run !== undefined, ...waitingRunId } satisfies AgentInfo);
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
    this.run = new AgentRun(this.bus, linkSubjects(runId, this.info.id), {
      runId,
      openSeat: this.openSeat,
      onEnd: (reason) => {
        this.run = undefined;
        this.events.ended(reason);
      },
    });
    return { isTaken: true };
  }
}

interface AgentRunParts {
  readonly runId: string;
  readonly openSeat: typeof openThreadSeat;
  readonly onEnd: (reason: string | undefined) => void;
}

class AgentRun {
  readonly runId: string;
  private readonly link: Link;
  private readonly parts: AgentRunParts;
  private readonly seats = new Map<number, Seat>();
  /** Ends the subscription to messages for all agents. */
  private readonly endCast: () => void;
  private files: ReceivedFiles | undefined;
  private mirror: FileMirror | undefined;
  private isEnding = false;
  /** Whether its conductor has sent nothing yet. */
  isWaiting = true;

  /** @param subjects subjects as the conductor's side sees them */
  constructor(bus: GuardedBus, { send, receive }: LinkSubjects, parts: AgentRunParts) {
    this.runId = parts.runId;
    this.parts = parts;
    this.endCast = bus.subscribe(filesSubject(parts.runId), (piece) => this.take(piece as ToAgent));
    this.link = new Link(
      bus,
      { send: receive, receive: send },
      {
        message: (value) => this.take(value as ToAgent),
        lost: (reason) => void this.end(`its conductor is gone: ${reason}`),
      },
    );
  }

  /** Ends all threads. @param reason why the run ended, if the conductor did not end it */
  async end(reason: string | undefined): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.endCast();
    if (reason !== undefined) this.send({ kind: "failed", reason });
    await Promise.all([...this.seats.values()].map((seat) => seat.end()));
    this.files?.remove();
    this.parts.onEnd(reason);
    if (reason === undefined) this.send({ kind: "ended" });
    await sleepUnless(LINGER_MS, this.link.drain());
    this.link.close();
  }

  private send(message: ToConductor): void {
    this.link.send(message);
    if (this.link.waitingBytes > MOST_WAITING_BYTES && !this.isEnding)
      void this.end("its reports come faster than the bus takes them: ask for no single requests, or lower the load");
  }

  private take(message: ToAgent): void {
    if (this.isEnding) return;
    this.isWaiting = false;
    try {
      this.handle(message);
    } catch (error) {
      void this.end(`it failed: ${messageOf(error)}`);
    }
  }

  private handle(message: ToAgent): void {
    switch (message.kind) {
      case "sending-files": {
        const { folder, totalBytes, hubCache, links } = message;
        this.files = new ReceivedFiles(totalBytes);
        for (const link of links) this.files.addLink(link);
        this.mirror = { root: this.files.root, folder, hubCache };
        return;
      }
      case "file":
        this.files?.add(message);
        return;
      case "files-sent":
        this.send({ kind: "files-missing", numbers: this.files?.findMissing(message.count) ?? [] });
        return;
      case "open-seat":
        this.openSeat(message.seat);
        return;
      case "task":
        this.seats.get(message.seat)?.post(message.task);
        return;
      case "end-seat":
        void this.endSeat(message.seat);
        return;
      case "end":
        void this.end(undefined);
        return;
    }
  }

  private openSeat(index: number): void {
    const listener: SeatListener = {
      event: (event) => {
        if (event.kind === "stood-still") void this.listen(index, event.heard);
        else this.send({ kind: "event", seat: index, event });
      },
      gone: (reason, isCode) => {
        if (this.seats.delete(index)) this.send({ kind: "gone", seat: index, reason, isCode });
      },
    };
    const seat = this.parts.openSeat(listener, this.mirror);
    this.seats.set(index, seat);
  }

  /** Lets a thread that stood still continue when the conductor has confirmed a message, and not if the run is over. */
  private async listen(seat: number, heard: Int32Array | undefined): Promise<void> {
    this.send({ kind: "event", seat, event: { kind: "stood-still" } });
    await this.link.drain();
    if (this.isEnding || heard === undefined) return;
    Atomics.store(heard, 0, 1);
    Atomics.notify(heard, 0);
  }

  private async endSeat(index: number): Promise<void> {
    const seat = this.seats.get(index);
    this.seats.delete(index);
    await seat?.end();
    this.send({ kind: "seat-ended", seat: index });
  }
}

/** Reports of an agent wait in its memory up to this size. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024;
/** Longest wait for a confirmation of the last messages. */
const LINGER_MS = 1000;
