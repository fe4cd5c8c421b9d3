import { DEFAULT_MAX_RESPONSE_BYTES } from "../plan/response-limit.ts";
import type { OpenSocket, Socket, SocketHandlers } from "../runtime/socket.ts";
import { Http1Client } from "../transport/http1/client.ts";
import { RequestJudge } from "./judge/judge.ts";
import { Driver } from "./send/driver.ts";
import { RequestFeed } from "./send/feed.ts";
import type { Session } from "./target/session.ts";

const REQUESTS = 1200;
const CONCURRENCY = 48;
const EVENTS = 12;
const STALL_TIMEOUT_NS = 60e9;

const SINK_ENDPOINT = { host: "rehearsal", port: 1, authority: "rehearsal:1", pathPrefix: "", headers: [] };

const encoder = new TextEncoder();
const EVENT =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n';
const STREAM_HEAD = encoder.encode(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n",
);
const CHUNK = encoder.encode(`${EVENT.length.toString(16)}\r\n${EVENT}\r\n`);
const STREAM_END = encoder.encode("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
const BODY = '{"choices":[{"message":{"role":"assistant","content":"word"}}]}';
const WHOLE = encoder.encode(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
);

/**
 * Sends requests of the session's data to an in-process sink, so that the client's code is JIT-compiled before the first measured request,
 * which would otherwise be some milliseconds late: a tenth of many a model's time to first token. Nothing is recorded.
 */
export async function rehearse({ service, dataset, warnings }: Session, isStreaming: boolean): Promise<void> {
  const pieces = isStreaming ? [STREAM_HEAD, ...Array<Uint8Array>(EVENTS).fill(CHUNK), STREAM_END] : [WHOLE];
  const steps = dataset.streams[0]?.slice(0, 1) ?? [];
  const few = { streams: [steps], isFromJson: true, warnings: [] };
  const feed = new RequestFeed(service, few, { usesIds: false });
  const session: Session = { service, dataset: few, warnings, shared: undefined, counters: async () => undefined };
  const judge = new RequestJudge({ session, feed, verbosity: 0, observer: { onRecord: () => {} } });
  const driver = new Driver({
    laneCount: CONCURRENCY,
    isSync: true,
    keepsOrder: false,
    sequenceCount: 1,
    isSerial: false,
    stallTimeoutNs: STALL_TIMEOUT_NS,
    maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
    createClient: (options) => new Http1Client(SINK_ENDPOINT, options, openSink(pieces)),
  });
  driver.setWork({
    feed,
    needsBodies: judge.needsBodies,
    createCheck: judge.createCheck,
    canWait: judge.canWait,
    readsFirst: isStreaming,
    onRecords: () => {},
    judge: (call, slots) => judge.judge(call, slots),
    onFailure: () => {},
    // The run reports any error again.
    onError: () => {},
  });
  await driver.start({ kind: "closed", concurrency: CONCURRENCY }, REQUESTS);
  await driver.finished();
  driver.close();
}

/** Opens sockets without a network. Each request gets its response piece by piece, one piece per connection and turn of the event loop. */
function openSink(pieces: readonly Uint8Array[]): OpenSocket {
  const answering: { readonly handlers: SocketHandlers; next: number }[] = [];
  const playNext = (): void => {
    for (const one of answering.splice(0)) {
      const piece = pieces[one.next++] as Uint8Array;
      if (one.next < pieces.length) answering.push(one);
      one.handlers.onData(piece);
    }
    if (answering.length > 0) setImmediate(playNext);
  };
  return (_, handlers): Socket => {
    setImmediate(() => handlers.onOpen());
    return {
      write: () => {
        if (answering.length === 0) setImmediate(playNext);
        answering.push({ handlers, next: 0 });
        return true;
      },
      close: () => {},
      pendingBytes: 0,
    };
  };
}
