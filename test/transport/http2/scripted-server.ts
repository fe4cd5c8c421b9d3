import { HpackDecoder } from "../../../src/transport/http2/hpack.ts";
import { type RawConnection, type RawServer, startRawServer } from "../raw-server.ts";
import { framesIn, type SentFrame, settings, TYPE } from "./write-frames.ts";

/** A connection of a scripted HTTP/2 server: what the client sent as frames, and what to answer. */
export class ScriptedConnection {
  readonly raw: RawConnection;
  /** Header lists by stream, in the order they came. */
  readonly headerLists = new Map<number, Record<string, string>>();
  private readonly decoder = new HpackDecoder(4096);
  private decoded = 0;

  constructor(raw: RawConnection) {
    this.raw = raw;
  }

  get index(): number {
    return this.raw.index;
  }

  /** All frames so far. */
  get frames(): SentFrame[] {
    const frames = framesIn(this.raw.bytes);
    for (const { type, streamId, payload } of frames.slice(this.decoded))
      if (type === TYPE.headers) this.headerLists.set(streamId, Object.fromEntries(this.decoder.decode(payload)));
    this.decoded = frames.length;
    return frames;
  }

  write(...frames: readonly Uint8Array[]): void {
    this.raw.write(Buffer.concat(frames));
  }

  /** Waits until the client has sent such a frame, and `count` of them. */
  async until(isWanted: (frame: SentFrame) => boolean, count = 1): Promise<SentFrame> {
    await this.raw.until(() => this.frames.filter(isWanted).length >= count);
    return this.frames.filter(isWanted)[count - 1] as SentFrame;
  }

  /** Waits until a stream's request is complete, and gives its gRPC messages. */
  async request(streamId: number): Promise<Uint8Array> {
    await this.until((frame) => frame.streamId === streamId && frame.type === TYPE.data && (frame.flags & 1) === 1);
    return this.dataOf(streamId);
  }

  /** Bytes of DATA a stream has sent so far. */
  dataOf(streamId: number): Uint8Array {
    const parts = this.frames.filter((frame) => frame.streamId === streamId && frame.type === TYPE.data);
    return new Uint8Array(Buffer.concat(parts.map(({ payload }) => payload)));
  }

  /** Ids of streams opened so far. */
  get opened(): number[] {
    return this.frames.filter(({ type }) => type === TYPE.headers).map(({ streamId }) => streamId);
  }
}

/** Starts a server that sends SETTINGS at once (unless `greeting` is something else) and then follows the script. */
export function startScripted(
  script: (connection: ScriptedConnection) => void | Promise<void>,
  greeting: Uint8Array = settings(),
): Promise<RawServer> {
  return startRawServer(async (raw) => {
    raw.write(greeting);
    await script(new ScriptedConnection(raw));
  });
}
