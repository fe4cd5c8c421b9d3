import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import { Client, credentials, Metadata, type VerifyOptions } from "@grpc/grpc-js";
import { nsToMs } from "../../plan/units.ts";
import type { TlsSettings } from "../../runtime/tls.ts";
import { verifyOptions } from "../../runtime/tls.ts";
import { Call } from "../call.ts";
import type { ClientOptions, LoadClient } from "../client.ts";
import { ABORTED, type Failure } from "../failure.ts";
import { channelIndexOf } from "../grpc/lanes.ts";
import type { Endpoint, Header, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import type { ReadStreamed } from "../streamed-responses.ts";
import { USER_AGENT } from "../user-agent.ts";
import { addHeaders } from "./grpc-js-calls.ts";
import { JsLane } from "./grpc-js-lane.ts";
import { JsSlot } from "./grpc-js-slot.ts";

const NO_LIMIT = -1;

/** A name used instead of an IP address where a host name is required (RFC 2606 reserves `.invalid`). */
const ADDRESS_NAME = "address.invalid";

/** `grpc_compression_algorithm` values. */
const ALGORITHMS = { identity: 0, deflate: 1, gzip: 2 } as const;

/** One slot of the client. */
export interface GrpcJsSlot {
  send(path: string, request: WireRequest, stamp: Uint8Array | undefined): void;
  /** Cancels the slot's request, if it has one, which fails with `failure`. */
  cancel(failure: Failure): void;
  /** Ends the slot's request, if it has one, with a failure. */
  fail(failure: Failure): void;
  /** Fails the slot's request if it has received no byte since the deadline. */
  failIfSilentSince(deadlineNs: number): void;
}

/**
 * The gRPC client based on @grpc/grpc-js: for comparison with Rampart's own client, and for features that Rampart's
 * client lacks.
 */
export class GrpcJsClient implements LoadClient {
  readonly calls: Call[] = [];
  protected readonly options: ClientOptions;
  private readonly endpoint: Endpoint;
  private readonly readStreamed: ReadStreamed | undefined;
  private readonly channels: Client[] = [];
  private readonly lanes: JsLane[] = [];
  private readonly slots: GrpcJsSlot[] = [];
  /** Headers of every request. */
  private readonly metadata = new Metadata();
  /** Metadata of a call, by its request's headers. */
  private readonly merged = new WeakMap<readonly Header[], Metadata>();
  private readonly stallWatch: StallWatch;
  private isClosed = false;
  /** grpc-js does not report its retries. */
  readonly resendCount = 0;

  /** @param readStreamed if given, one bidirectional stream per lane is used instead of unary calls */
  constructor(endpoint: Endpoint, options: ClientOptions, readStreamed: ReadStreamed | undefined) {
    this.endpoint = endpoint;
    this.options = options;
    this.readStreamed = readStreamed;
    addHeaders(this.metadata, endpoint.headers);
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const slot of this.slots) slot.failIfSilentSince(deadlineNs);
    });
  }

  /** The number of channels; grpc-js does not report reconnections. */
  get connectionCount(): number {
    return this.channels.length;
  }

  async reserve(count: number): Promise<void> {
    this.stallWatch.start();
    const opening: Promise<void>[] = [];
    while (this.slots.length < count) {
      const index = this.slots.length;
      const channelIndex = channelIndexOf(index, this.options.lanes.laneCount);
      let channel = this.channels[channelIndex];
      if (channel === undefined) {
        channel = createChannel(this.endpoint, this.options);
        this.channels[channelIndex] = channel;
        opening.push(waitForReady(channel, nsToMs(this.options.stallTimeoutNs)));
      }
      const call = new Call(index);
      this.calls.push(call);
      this.slots.push(this.createSlot(call, channel));
    }
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    (this.slots[slot] as GrpcJsSlot).send(`${this.endpoint.pathPrefix}${request.path}`, request, stamp);
  }

  flush(): void {}

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.cancel(failure);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    for (const lane of this.lanes) lane.end();
    for (const slot of this.slots) slot.fail(ABORTED);
    for (const channel of this.channels) channel.close();
  }

  /** Creates the slot of a call that uses this channel. */
  protected createSlot(call: Call, channel: Client): GrpcJsSlot {
    const metadataWith = (headers: readonly Header[]): Metadata => this.metadataWith(headers);
    return new JsSlot(call, this.laneOf(call.slot, channel), { channel, metadataWith, options: this.options });
  }

  /** Returns the metadata of a call whose request has these headers. */
  protected metadataWith(headers: readonly Header[]): Metadata {
    if (headers.length === 0) return this.metadata;
    let merged = this.merged.get(headers);
    if (merged === undefined) {
      merged = this.metadata.clone();
      addHeaders(merged, headers);
      this.merged.set(headers, merged);
    }
    return merged;
  }

  private laneOf(slot: number, channel: Client): JsLane | undefined {
    if (this.readStreamed === undefined) return undefined;
    const index = slot % this.options.lanes.laneCount;
    let lane = this.lanes[index];
    if (lane === undefined) {
      lane = new JsLane(channel, this.metadata, this.readStreamed, this.options.maxResponseBytes);
      this.lanes[index] = lane;
    }
    return lane;
  }
}

function createChannel(endpoint: Endpoint, { maxResponseBytes }: ClientOptions): Client {
  const { tls } = endpoint;
  const isAddress = tls !== undefined && isIP(endpoint.host) !== 0;
  const secure =
    tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(toBuffer(tls.caPem), toBuffer(tls.keyPem), toBuffer(tls.certPem), {
          ...verifyOptions(tls),
          ...(isAddress ? nameCheckOf(endpoint.host, tls) : {}),
        });
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  return new Client(`${host}:${endpoint.port}`, secure, {
    "grpc.default_authority": endpoint.authority,
    "grpc.primary_user_agent": USER_AGENT,
    // grpc-js sends the target as the TLS server name. TLS forbids addresses there, and Bun rejects them.
    ...(isAddress ? { "grpc.ssl_target_name_override": ADDRESS_NAME } : {}),
    "grpc.max_receive_message_length": maxResponseBytes,
    "grpc.max_send_message_length": NO_LIMIT,
    // One connection per channel, as in Rampart's own client.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.default_compression_algorithm": ALGORITHMS[endpoint.compression ?? "identity"],
  });
}

/** Checks the certificate against the address instead of {@link ADDRESS_NAME}. */
function nameCheckOf(host: string, { verifyHost }: TlsSettings): VerifyOptions {
  return verifyHost ? { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) } : {};
}

function toBuffer(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}

/** Resolves when the channel is connected or connecting has failed; the first call reports the failure. */
function waitForReady(channel: Client, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => channel.waitForReady(Date.now() + Math.min(timeoutMs, 1000), () => resolve()));
}
