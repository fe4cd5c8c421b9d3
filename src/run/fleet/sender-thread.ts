import type { MessagePort } from "node:worker_threads";
import type { Share } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { registerSecret } from "../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import { prepareLoad } from "../../registry/load-modes.ts";
import { shareClock } from "../../runtime/clock.ts";
import { type FunctionsSource, loadFunctions } from "../../scenario/thread-functions.ts";
import { RunSignal } from "../interrupt.ts";
import { openSending } from "../open-sending.ts";
import type { SenderEvent, SentCounts, SentMessage } from "./remote-sender.ts";
import { listenFor, ServedSender } from "./serve-sender.ts";

/** What a thread needs to send a share of a plan's load: plain data. */
export interface SenderThreadData {
  readonly plan: Plan;
  readonly share: Share;
  /** Maximum number of outstanding requests of this sender. */
  readonly maxOutstanding: number;
  readonly sendsRecords: boolean;
  readonly secrets: readonly string[];
  /** Where the functions of the plan are. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
  /** Time origin of the conductor's clock. */
  readonly originMs: number;
}

/** What a conductor says to the thread. */
export type ThreadTask =
  | { readonly kind: "handle"; readonly messages: readonly SentMessage[] }
  /** Opens no further connection to ask the server. */
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

/** What the thread says. */
export type ThreadEvent =
  | ({ readonly kind: "opened" } & SentCounts)
  | { readonly kind: "not-opened"; readonly error: SentError }
  | { readonly kind: "ended" }
  | SenderEvent;

/**
 * Opens the plan's target in this thread, and sends a share of its load until the conductor ends it.
 * @param loadApi loads the module that a scenario imports as `"rampart"`
 */
export async function serveSenderThread(
  port: MessagePort,
  data: SenderThreadData,
  loadApi: () => Promise<object>,
): Promise<void> {
  const { plan, share, maxOutstanding, sendsRecords, secrets, originMs } = data;
  shareClock(originMs);
  for (const secret of secrets) registerSecret(secret);
  const send = (event: ThreadEvent, transfer: readonly ArrayBuffer[] = []): void => port.postMessage(event, transfer);
  const signal = new RunSignal();
  const options = { observer: {}, load: prepareLoad(plan.load), signal, maxOutstanding, senders: share };
  // Before the thread has opened its target, only an interrupt comes.
  let handle: (task: ThreadTask) => unknown = () => {};
  port.on("message", (task: ThreadTask) => (task.kind === "interrupt" ? signal.interrupt() : handle(task)));
  try {
    if (data.functions !== undefined) await loadFunctions(plan, data.functions, await loadApi());
    const sending = await openSending(plan, options);
    const sender = sending.createSender(listenFor(send, sendsRecords), {});
    const served = new ServedSender(sender, send);
    handle = async (task) => {
      if (task.kind === "handle") served.handle(task.messages);
      else if (task.kind === "end") {
        served.end();
        await sending.close();
        send({ kind: "ended" });
      }
    };
    send({ kind: "opened", progress: sender.progress(), counts: sender.counts() });
  } catch (error) {
    send({ kind: "not-opened", error: ERROR_FORM.send(error) });
  }
}
