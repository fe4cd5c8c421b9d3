import type { RecordColumns } from "../../measure/records.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import type { ClientLoad } from "../../result/observer.ts";
import { LoadMonitor } from "../../telemetry/health-monitor.ts";
import type { LoadSender, SenderListener } from "../send/messages.ts";
import type { PackedRequests, RequestPacker } from "./packed-requests.ts";
import type { SenderEvent, SentCounts, SentMessage } from "./remote-sender.ts";

/** Time between two reports of the counts of one sender, or of one of a few. */
const COUNTS_MS = 50;
/** With many senders, each reports less often, so that their conductor gets only a few hundred reports a second. */
const COUNTS_MS_PER_SENDER = 4;
const MOST_COUNTS_MS = 1000;
/** Time over which a sender measures its load. */
const LOAD_MS = 1000;

/** Sends events to a conductor. @param transfer buffers that may be transferred instead of copied */
export type SendEvent = (event: SenderEvent, transfer?: readonly ArrayBuffer[]) => void;

/**
 * Returns a listener that sends a sender's events to its conductor.
 * @param sendsRecords whether the conductor needs the records
 * @param packer packs the requests of the records. Default: the conductor does not need them
 */
export function listenFor(send: SendEvent, sendsRecords: boolean, packer?: RequestPacker): SenderListener {
  return {
    records: (records, count) => {
      if (sendsRecords || packer !== undefined) sendRecords(send, records, count, packer?.take());
    },
    extracted: (...args) => send({ kind: "listener", name: "extracted", args }),
    failed: (...args) => send({ kind: "listener", name: "failed", args }),
    limited: (...args) => send({ kind: "listener", name: "limited", args }),
    traced: (...args) => send({ kind: "listener", name: "traced", args }),
    broken: (error) => send({ kind: "broken", error: ERROR_FORM.send(error) }),
  };
}

/** The columns are reused, so their rows are copied. */
function sendRecords(send: SendEvent, records: RecordColumns, count: number, requests?: PackedRequests): void {
  const columns = Object.fromEntries(
    Object.entries(records).flatMap(([name, column]) =>
      column instanceof Float64Array || column instanceof Uint32Array || column instanceof Uint8Array
        ? [[name, column.slice(0, count)] as const]
        : [],
    ),
  );
  const buffers = Object.values(columns).map(({ buffer }) => buffer);
  if (requests === undefined) send({ kind: "records", columns, count }, buffers);
  else {
    const { numbers, bytes } = requests;
    send({ kind: "records", columns, count, requests }, [...buffers, numbers.buffer, bytes.buffer]);
  }
}

/** A sender's side of the connection to a remote conductor: handles messages in the order of their arrival. */
export class ServedSender {
  private readonly sender: LoadSender;
  private readonly send: SendEvent;
  private readonly timers: readonly ReturnType<typeof setInterval>[];
  private readonly load: LoadMonitor;
  private client: ClientLoad = { cpuRatio: 0, loopLagMaxNs: 0 };

  /** @param senderCount number of all senders of the conductor @param load monitors this thread. Default: a new one */
  constructor(sender: LoadSender, send: SendEvent, senderCount = 1, load = new LoadMonitor()) {
    this.sender = sender;
    this.send = send;
    this.load = load;
    load.start();
    const countsMs = Math.min(MOST_COUNTS_MS, Math.max(COUNTS_MS, COUNTS_MS_PER_SENDER * senderCount));
    this.timers = [
      setInterval(() => send({ kind: "counts", ...this.counts() }), countsMs),
      setInterval(() => {
        this.client = this.load.take();
      }, LOAD_MS),
    ];
  }

  /** Handles messages without a pause. */
  handle(messages: readonly SentMessage[]): void {
    for (const message of messages) void this.reply(message);
  }

  /** Stops reporting. */
  end(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.load.stop();
  }

  private async reply({ id, name, args }: SentMessage): Promise<void> {
    try {
      const value = await (this.sender[name] as (...given: readonly unknown[]) => unknown)(...args);
      this.send({ kind: "reply", id, value, ...this.counts() });
    } catch (error) {
      this.send({ kind: "refusal", id, error: ERROR_FORM.send(error) });
    }
  }

  private counts(): SentCounts {
    const { standstills } = this.load;
    const counts = { ...this.sender.counts(), client: this.client };
    return { progress: this.sender.progress(), counts, ...(standstills.length === 0 ? {} : { standstills }) };
  }
}
