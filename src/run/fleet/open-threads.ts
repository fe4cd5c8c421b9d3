import type { Worker } from "node:worker_threads";
import { countOf, numberOf, type Share } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { registeredSecrets } from "../../plan/secrets.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import { sleepUnless, systemClock, timeOriginMs } from "../../runtime/clock.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { FunctionsSource } from "../../scenario/thread-functions.ts";
import type { RunSignal } from "../interrupt.ts";
import type { LoadSender, SenderListener } from "../send/messages.ts";
import { FleetSender } from "./fleet-sender.ts";
import type { JoinedRequests, RequestListener } from "./joined-requests.ts";
import type { RequestsWanted } from "./packed-requests.ts";
import { RemoteSender, type SenderChannel, type SentCounts } from "./remote-sender.ts";
import type { SenderThreadData, ThreadEvent, ThreadTask } from "./sender-thread.ts";

/** Longest wait for a thread to close its connections. */
const END_MS = 2000;

/** Threads that send a plan's load together. */
export interface SenderThreads {
  readonly count: number;
  /**
   * Returns the sender that all of them are.
   * @param listener hears of what ends in any of them
   * @param joined gets their single requests. Default: nobody wants them
   */
  createSender(listener: SenderListener, joined?: JoinedRequests): LoadSender;
  close(): Promise<void>;
}

/** What the threads need besides the plan. */
export interface ThreadsOptions {
  readonly count: number;
  readonly signal: RunSignal;
  /** Maximum number of outstanding requests of all threads together. */
  readonly maxOutstanding: number;
  /** Whether the conductor wants the records of requests. */
  readonly wantsRecords: boolean;
  /** What the conductor wants of single requests. Absent: nothing. */
  readonly requests?: RequestsWanted | undefined;
  /** Whether each thread measures the tokens of its responses, if the plan measures any. Default: true. */
  readonly measuresTokens?: boolean | undefined;
  /** Where the functions of the plan are. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
}

/** Opens the plan's target in several threads. @throws RunError or UserError when one of them cannot; none is left then */
export async function openThreads(plan: Plan, options: ThreadsOptions): Promise<SenderThreads> {
  const { signal, maxOutstanding } = options;
  // Each thread may have one request in flight.
  const count = Math.min(options.count, maxOutstanding);
  const threads = Array.from({ length: count }, (_, index) => new SenderThread(plan, index, { ...options, count }));
  void signal.interrupted.then(() => {
    for (const thread of threads) thread.post({ kind: "interrupt" });
  });
  const close = async (): Promise<void> => {
    await Promise.all(threads.map((thread) => thread.close()));
  };
  const opened = await Promise.allSettled(threads.map((thread) => thread.opened));
  const failed = opened.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return {
    count,
    createSender: (listener, joined) => {
      const senders = threads.map((thread, index) =>
        thread.createSender(withLanes(listener, { index, count }), joined?.listenerOf(index)),
      );
      return new FleetSender(senders, systemClock, joined);
    },
    close,
  };
}

/** Lanes count among those of all threads. */
function withLanes(listener: SenderListener, share: Share): SenderListener {
  return {
    ...listener,
    failed: (...[failure, lane, sentNs]: Parameters<SenderListener["failed"]>): void =>
      listener.failed(failure, numberOf(lane, share), sentNs),
  };
}

/** The conductor's side of a thread. */
class SenderThread {
  private readonly worker: Worker;
  private readonly opening = Promise.withResolvers<SentCounts>();
  private readonly ended = Promise.withResolvers<void>();
  private counts: SentCounts | undefined;
  private remote: RemoteSender | undefined;

  constructor(plan: Plan, index: number, options: ThreadsOptions) {
    const { count, maxOutstanding, wantsRecords, requests, measuresTokens, functions } = options;
    const share = { index, count };
    const data: SenderThreadData = {
      ...{ plan, share, functions, requests, measuresTokens, sendsRecords: wantsRecords },
      maxOutstanding: countOf(maxOutstanding, share),
      secrets: registeredSecrets(),
      originMs: timeOriginMs(),
    };
    this.opening.promise.catch(() => {});
    this.worker = startWorker({ role: "send", data });
    this.worker.on("message", (event: ThreadEvent) => this.receive(event));
    this.worker.on("error", (error) => this.fail(error instanceof Error ? error.message : String(error)));
    const hint =
      functions === undefined ? "Report this." : "If the scenario's code calls process.exit, throw an error instead.";
    this.worker.on("exit", (code) => this.fail(`it ended with exit code ${code}`, hint));
  }

  /** Resolves when the thread has opened its target. */
  get opened(): Promise<unknown> {
    return this.opening.promise;
  }

  createSender(listener: SenderListener, requests: RequestListener | undefined): LoadSender {
    const send: SenderChannel["send"] = (messages) => this.post({ kind: "handle", messages });
    this.remote = new RemoteSender({ send }, listener, this.counts as SentCounts, requests);
    return this.remote.sender;
  }

  post(task: ThreadTask): void {
    this.worker.postMessage(task);
  }

  async close(): Promise<void> {
    if (this.counts !== undefined) {
      this.post({ kind: "end" });
      await sleepUnless(END_MS, this.ended.promise);
    }
    this.remote = undefined;
    await this.worker.terminate();
  }

  private receive(event: ThreadEvent): void {
    if (event.kind === "opened") {
      this.counts = event;
      this.opening.resolve(event);
    } else if (event.kind === "not-opened") this.opening.reject(ERROR_FORM.receive(event.error));
    else if (event.kind === "ended") this.ended.resolve();
    else this.remote?.receive(event);
  }

  private fail(reason: string, hint = "Report this."): void {
    const error = new RunError("internal", `a thread that sends failed: ${reason}`, hint);
    this.opening.reject(error);
    this.ended.resolve();
    this.remote?.fail(error);
  }
}
