import type { WireRequest } from "../request.ts";
import { encodeFrame, TO_SERVER } from "./frames.ts";

/** Requests that the other process keeps, in bytes of their payloads. The least recently used ones are sent again. */
const MOST_BYTES = 256 * 1024 * 1024; // 256 MiB

/** Sends each distinct request once. Calls then only name its number. */
export class TemplateTable {
  private readonly send: (frame: Uint8Array) => void;
  private readonly maxBytes: number;
  /** In the order of their last use. */
  private readonly ids = new Map<WireRequest, number>();
  private heldBytes = 0;
  private lastId = 0;

  /** @param send sends a frame before those of calls that follow @param maxBytes default: 256 MiB */
  constructor(send: (frame: Uint8Array) => void, maxBytes = MOST_BYTES) {
    this.send = send;
    this.maxBytes = maxBytes;
  }

  /** Returns a request's number. Sends its bytes when the other process does not have them. */
  idOf(request: WireRequest): number {
    const known = this.ids.get(request);
    if (known !== undefined) {
      if (this.ids.size > 1) {
        this.ids.delete(request);
        this.ids.set(request, known);
      }
      return known;
    }
    const id = this.lastId + 1;
    this.lastId = id;
    const stampOffset = new DataView(new ArrayBuffer(4));
    stampOffset.setUint32(0, request.stampPlace?.offset ?? 0, true);
    this.send(encodeFrame(TO_SERVER.template, id, new Uint8Array(stampOffset.buffer), request.payload));
    this.ids.set(request, id);
    this.heldBytes += request.payload.length;
    this.forgetOldest(request);
    return id;
  }

  /** Call after the call of a request that is sent once. */
  forget(request: WireRequest): void {
    const id = this.ids.get(request);
    if (id === undefined) return;
    this.ids.delete(request);
    this.heldBytes -= request.payload.length;
    this.send(encodeFrame(TO_SERVER.forget, id, new Uint8Array(0)));
  }

  private forgetOldest(newest: WireRequest): void {
    for (const request of this.ids.keys()) {
      if (this.heldBytes <= this.maxBytes || request === newest) return;
      this.forget(request);
    }
  }
}
