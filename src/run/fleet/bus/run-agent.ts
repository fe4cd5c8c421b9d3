import { RunError } from "../../../plan/problem.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { Seat, SeatListener } from "../seat.ts";
import { type AgentInfo, linkSubjects, type ToAgent, type ToConductor } from "./agent-messages.ts";
import type { Bus } from "./bus.ts";
import { Link, MOST_SILENCE_MS } from "./link.ts";
import type { FileReceiver } from "./sent-files.ts";

const END_MS = 3000;
/** Many agents often share cores, so an agent may be without a core for some time. */
const SILENCE_MS_PER_HUNDRED = 400;
/** Longest wait for a last confirmation. The other side does not wait long for it either. */
const LAST_MS = 200;

/** The conductor's side of an agent that takes part in its run. */
export class RunAgent implements FileReceiver {
  private readonly info: Pick<AgentInfo, "id" | "name">;
  private readonly link: Link;
  private readonly listeners = new Map<number, SeatListener>();
  private readonly endings = new Map<number, PromiseWithResolvers<void>>();
  /** Waits for the numbers of the file pieces that the agent lacks. */
  private missing: PromiseWithResolvers<readonly number[]> | undefined;
  private lost: string | undefined;
  private readonly whenLost = Promise.withResolvers<void>();
  private readonly ended = Promise.withResolvers<void>();

  /** @param agentCount number of agents of the run */
  constructor(bus: Bus, runId: string, info: Pick<AgentInfo, "id" | "name">, agentCount: number) {
    this.info = info;
    this.link = new Link(bus, linkSubjects(runId, info.id), {
      message: (value) => this.receive(value as ToConductor),
      lost: (reason, heardNs) => this.lose(reason, heardNs),
      mostSilenceMs: MOST_SILENCE_MS + SILENCE_MS_PER_HUNDRED * Math.floor(agentCount / 100),
    });
  }

  private get name(): string {
    return `the agent ${this.info.name}`;
  }

  /** Whether contact with the agent is lost. */
  get isLost(): boolean {
    return this.lost !== undefined;
  }

  /** Opens a thread there. @param seat its number among all seats of the run */
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

  async findMissing(count: number): Promise<readonly number[]> {
    const reply = Promise.withResolvers<readonly number[]>();
    this.missing = reply;
    this.send({ kind: "files-sent", count });
    await Promise.race([reply.promise, this.whenLost.promise]);
    this.checkThere();
    return reply.promise;
  }

  async drain(): Promise<void> {
    await this.link.drain();
    this.checkThere();
  }

  private checkThere(): void {
    if (this.lost !== undefined)
      throw new RunError("unreachable", `${this.name} is lost: ${this.lost}`, "Start it again, or use fewer agents.");
  }

  /** Call when the run is interrupted or aborted: a bus that is away must not delay its end for long. */
  hasten(): void {
    this.link.hasten(MOST_SILENCE_MS);
  }

  /** Ends its part in the run. */
  async close(): Promise<void> {
    this.send({ kind: "end" });
    await sleepUnless(END_MS, Promise.race([this.ended.promise, this.whenLost.promise]));
    await sleepUnless(LAST_MS, this.link.drain());
    this.link.close();
  }

  send(message: ToAgent): void {
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
      case "files-missing":
        this.missing?.resolve(message.numbers);
        return;
      case "ended":
        this.ended.resolve();
        return;
      case "failed":
        this.lose(message.reason);
        return;
    }
  }

  private lose(reason: string, heardNs?: number): void {
    if (this.lost !== undefined) return;
    this.lost = reason;
    this.whenLost.resolve();
    for (const listener of this.listeners.values()) listener.gone(reason, false, heardNs);
  }
}
