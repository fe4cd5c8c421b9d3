import { randomUUID } from "node:crypto";
import type { BusPlan, Plan } from "../../../plan/plan.ts";
import { RunError } from "../../../plan/problem.ts";
import { msToSec } from "../../../plan/units.ts";
import { sleepMs, sleepUnless } from "../../../runtime/clock.ts";
import { VERSION } from "../../../runtime/version.ts";
import type { FunctionsSource } from "../../../scenario/thread-functions.ts";
import type { RunSignal } from "../../interrupt.ts";
import type { SeatsElsewhere } from "../open-fleet.ts";
import type { Seat, SeatListener } from "../seat.ts";
import {
  type AgentInfo,
  type Claim,
  type ClaimReply,
  claimSubject,
  FIND_SUBJECT,
  linkSubjects,
  type ToAgent,
  type ToConductor,
} from "./agent-messages.ts";
import type { Bus } from "./bus.ts";
import { Link } from "./link.ts";
import { openBus } from "./nats-bus.ts";
import { modulesOf, type NotedFiles, noteRunFiles, type SentFiles, sendFiles } from "./sent-files.ts";

const DEFAULT_WAIT_MS = 10_000;
/** Time between two questions who is there. */
const ASK_MS = 250;
const CLAIM_MS = 2000;
const END_MS = 3000;
/** Longest wait for a last confirmation, which the other side does not wait for long. */
const LAST_MS = 200;

/** The agents of a run. */
export interface Agents extends SeatsElsewhere {
  /** Sends the files of this host that were opened meanwhile to all of them. @throws RunError when one of them is lost */
  sendFiles(plan: Plan): Promise<void>;
  /** Ends their part in the run. */
  close(): Promise<void>;
}

/** What agents are asked for. */
export interface AgentsOptions {
  /** Threads of each agent. */
  readonly workers: number;
  readonly signal: RunSignal;
  /** Where the functions of the plan are. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
}

/** Finds agents on the bus and gets hold of them. @throws RunError when there are too few, by name where they refuse */
export async function openAgents(plan: BusPlan, { workers, signal, functions }: AgentsOptions): Promise<Agents> {
  const { agentCount = 1, waitMs = DEFAULT_WAIT_MS, allowLost = 0 } = plan;
  const runId = randomUUID();
  const modules = functions === undefined ? [] : modulesOf(functions.context.path);
  const bus = await openBus(plan, "rampart conductor");
  const search = new AgentSearch(bus, { runId, version: VERSION });
  try {
    await search.find(agentCount, waitMs, signal.interrupted);
  } catch (error) {
    await bus.close();
    throw error;
  }
  return new RunAgents(bus, { runId, found: search.taken, workers, allowLost, files: noteRunFiles(modules) });
}

/** Asks who is there until there are enough. */
class AgentSearch {
  readonly taken: AgentInfo[] = [];
  private readonly bus: Bus;
  private readonly claim: Claim;
  /** Agents that were heard of, by id, and why they do not take part. */
  private readonly heard = new Map<string, { readonly name: string; reason: string | undefined }>();
  private wanted = 0;
  private readonly enough = Promise.withResolvers<void>();

  constructor(bus: Bus, claim: Claim) {
    this.bus = bus;
    this.claim = claim;
  }

  async find(count: number, waitMs: number, interrupted: Promise<unknown>): Promise<void> {
    this.wanted = count;
    const inbox = this.bus.createInbox();
    const end = this.bus.subscribe(inbox, (agent) => void this.meet(agent as AgentInfo));
    const isOver = Promise.race([this.enough.promise, interrupted]);
    for (let restMs = waitMs; this.taken.length < count; restMs -= ASK_MS) {
      this.bus.publish(FIND_SUBJECT, {}, inbox);
      if (restMs <= 0) break;
      await sleepUnless(Math.min(ASK_MS, restMs), isOver);
      if (await isSettled(interrupted)) break;
    }
    this.wanted = 0;
    end();
    if (this.taken.length < count) {
      await this.release();
      throw this.tooFew(count, waitMs);
    }
  }

  /** Asks an agent that has just been heard of to take part. */
  private async meet(agent: AgentInfo): Promise<void> {
    const known = this.heard.get(agent.id);
    if (known !== undefined && known.reason !== BUSY) return;
    if (agent.isBusy || this.taken.length >= this.wanted) {
      this.heard.set(agent.id, { name: agent.name, reason: BUSY });
      return;
    }
    const entry: { readonly name: string; reason: string | undefined } = {
      name: agent.name,
      reason: "it does not reply",
    };
    this.heard.set(agent.id, entry);
    this.taken.push(agent);
    const reply = await this.ask(agent.id);
    entry.reason = reply === undefined || reply.isTaken ? entry.reason : reply.reason;
    if (reply?.isTaken === true) entry.reason = undefined;
    else this.taken.splice(this.taken.indexOf(agent), 1);
    if (this.taken.length >= this.wanted && this.taken.every(({ id }) => this.heard.get(id)?.reason === undefined))
      this.enough.resolve();
  }

  private async ask(id: string): Promise<ClaimReply | undefined> {
    const inbox = this.bus.createInbox();
    const replied = Promise.withResolvers<ClaimReply>();
    const end = this.bus.subscribe(inbox, (reply) => replied.resolve(reply as ClaimReply));
    this.bus.publish(claimSubject(id), this.claim, inbox);
    const reply = await Promise.race([replied.promise, sleepMs(CLAIM_MS).then(() => undefined)]);
    end();
    return reply;
  }

  /** Lets go of those that were found. */
  private async release(): Promise<void> {
    const links = this.taken.map(({ id }) => openLink(this.bus, this.claim.runId, id));
    for (const link of links) link.send({ kind: "end" } satisfies ToAgent);
    await Promise.race([Promise.all(links.map((link) => link.drain())), sleepMs(CLAIM_MS)]);
    for (const link of links) link.close();
  }

  private tooFew(count: number, waitMs: number): RunError {
    const found = this.taken.length;
    const others = [...this.heard.values()].flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`${name}: ${reason}`],
    );
    const why = others.length === 0 ? "" : ` (${others.slice(0, 5).join("; ")})`;
    const s = count === 1 ? "agent is" : "agents are";
    const message = `${count} ${s} needed, and ${found} came within ${msToSec(waitMs)} s${why}`;
    return new RunError("unreachable", message, { say: "start-agents" });
  }
}

const BUSY = "it takes part in another run";

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = {};
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

function openLink(bus: Bus, runId: string, id: string): Link {
  return new Link(bus, linkSubjects(runId, id), { message: () => {}, lost: () => {} });
}

interface AgentsParts {
  readonly runId: string;
  readonly found: readonly AgentInfo[];
  readonly workers: number;
  readonly allowLost: number;
  readonly files: NotedFiles;
}

/** The agents that take part. The seats go round them, so that those of a share differ by one at most. */
class RunAgents implements Agents {
  readonly count: number;
  readonly perHost: number;
  readonly allowLost: number;
  private readonly bus: Bus;
  private readonly files: NotedFiles;
  private readonly agents: readonly RunAgent[];

  constructor(bus: Bus, { runId, found, workers, allowLost, files }: AgentsParts) {
    this.bus = bus;
    this.files = files;
    this.agents = found.map((info) => new RunAgent(bus, runId, info));
    this.count = found.length * workers;
    this.perHost = workers;
    this.allowLost = allowLost;
  }

  open(index: number, listener: SeatListener): Seat {
    const agent = this.agents[index % this.agents.length];
    if (agent === undefined) throw new RangeError(`there is no seat ${index}`);
    return agent.openSeat(index, listener);
  }

  async sendFiles(plan: Plan): Promise<void> {
    const files = await this.files.end(plan);
    await Promise.all(this.agents.map((agent) => agent.sendFiles(files)));
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.close()));
    await this.bus.close();
  }
}

/** The conductor's side of an agent. */
class RunAgent {
  private readonly info: AgentInfo;
  private readonly link: Link;
  private readonly listeners = new Map<number, SeatListener>();
  private readonly endings = new Map<number, PromiseWithResolvers<void>>();
  private lost: string | undefined;
  private readonly whenLost = Promise.withResolvers<void>();
  private readonly ended = Promise.withResolvers<void>();

  constructor(bus: Bus, runId: string, info: AgentInfo) {
    this.info = info;
    this.link = new Link(bus, linkSubjects(runId, info.id), {
      message: (value) => this.receive(value as ToConductor),
      lost: (reason) => this.lose(reason),
    });
  }

  private get name(): string {
    return `the agent ${this.info.name}`;
  }

  openSeat(seat: number, listener: SeatListener): Seat {
    this.listeners.set(seat, listener);
    const ending = Promise.withResolvers<void>();
    this.endings.set(seat, ending);
    this.send({ kind: "open-seat", seat });
    const { lost } = this;
    if (lost !== undefined) queueMicrotask(() => listener.gone(lost, false));
    return {
      name: this.name,
      host: this.info,
      post: (task) => this.send({ kind: "task", seat, task }),
      end: async () => {
        this.listeners.delete(seat);
        this.send({ kind: "end-seat", seat });
        await sleepUnless(END_MS, Promise.race([ending.promise, this.whenLost.promise]));
      },
    };
  }

  async sendFiles(files: SentFiles): Promise<void> {
    await sendFiles(files, { send: (message) => this.send(message), link: this.link });
    if (this.lost !== undefined)
      throw new RunError("internal", `${this.name} failed: ${this.lost}`, "Start it again, or use fewer agents.");
  }

  async close(): Promise<void> {
    this.send({ kind: "end" });
    await sleepUnless(END_MS, Promise.race([this.ended.promise, this.whenLost.promise]));
    await sleepUnless(LAST_MS, this.link.drain());
    this.link.close();
  }

  private send(message: ToAgent): void {
    this.link.send(message);
  }

  private receive(message: ToConductor): void {
    switch (message.kind) {
      case "event":
        this.listeners.get(message.seat)?.event(message.event);
        return;
      case "gone":
        this.listeners.get(message.seat)?.gone(message.reason, message.isCode);
        return;
      case "seat-ended":
        this.endings.get(message.seat)?.resolve();
        return;
      case "ended":
        this.ended.resolve();
        return;
      case "failed":
        this.lose(message.reason);
        return;
    }
  }

  private lose(reason: string): void {
    if (this.lost !== undefined) return;
    this.lost = reason;
    this.whenLost.resolve();
    for (const listener of this.listeners.values()) listener.gone(reason, false);
  }
}
