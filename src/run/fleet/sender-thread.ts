import type { MessagePort } from "node:worker_threads";
import type { Share } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { registerSecret } from "../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import { prepareLoad } from "../../registry/load-modes.ts";
import type { RunObserver } from "../../result/observer.ts";
import { shareClock } from "../../runtime/clock.ts";
import { type FunctionsSource, loadFunctions } from "../../scenario/thread-functions.ts";
import { RunSignal } from "../interrupt.ts";
import { openSending } from "../open-sending.ts";
import { RequestPacker, type RequestsWanted } from "./packed-requests.ts";
import type { SenderEvent, SentCounts, SentMessage } from "./remote-sender.ts";
import { listenFor, ServedSender } from "./serve-sender.ts";

/** What a thread needs to send a share of a plan's load: plain data. */
export interface SenderThreadData {
  readonly plan: Plan;
  readonly share: Share;
  /** Maximum number of outstanding requests of this sender. */
  readonly maxOutstanding: number;
  readonly sendsRecords: boolean;
  /** What the conductor wants of single requests. Absent: nothing. */
  readonly requests?: RequestsWanted | undefined;
  /** Whether the thread measures the tokens of its responses, if the plan measures any. Default: true. */
  readonly measuresTokens?: boolean | undefined;
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
  const { plan, share, maxOutstanding, sendsRecords, requests, measuresTokens, secrets, originMs } = data;
  shareClock(originMs);
  for (const secret of secrets) registerSecret(secret);
  const send = (event: ThreadEvent, transfer: readonly ArrayBuffer[] = []): void => port.postMessage(event, transfer);
  const signal = new RunSignal();
  let onTrace: RunObserver["onTrace"];
  // The conductor has shown what the server says of its model.
  const observer: RunObserver = plan.outputs.verbosity === 2 ? { onTrace: (event) => onTrace?.(event) } : {};
  const packer = requests && new RequestPacker(requests);
  const load = prepareLoad(plan.load);
  const options = { observer, load, signal, maxOutstanding, senders: share, measuresTokens };
  // Before the thread has opened its target, only an interrupt comes.
  let handle: (task: ThreadTask) => unknown = () => {};
  port.on("message", (task: ThreadTask) => (task.kind === "interrupt" ? signal.interrupt() : handle(task)));
  try {
    if (data.functions !== undefined) await loadFunctions(plan, data.functions, await loadApi());
    const sending = await openSending(plan, options);
    const listener = listenFor(send, sendsRecords, packer);
    const sender = sending.createSender(listener, observer, packer);
    if (packer !== undefined) packer.onFull = () => sender.drainRecords();
    onTrace = listener.traced;
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
