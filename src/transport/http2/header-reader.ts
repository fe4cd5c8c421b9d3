import { isSameBytes } from "../../runtime/same-bytes.ts";
import type { Header } from "../request.ts";
import { HpackDecoder } from "./hpack.ts";

const REMEMBERED_BLOCKS = 4;

/** This side announces a table of 0 bytes, but some servers use HPACK's default size, so that is accepted. */
const TOLERATED_TABLE_BYTES = 4096;

interface RememberedBlock {
  readonly block: Uint8Array;
  readonly headers: readonly Header[];
  /** State of the dynamic table for which the block has this meaning. */
  readonly generation: number;
}

/**
 * Decodes the header blocks of one connection, in order. Servers repeat a few blocks. While the dynamic table does not change, a block
 * with the same bytes has the same meaning, and the same list is returned.
 */
export class HeaderReader {
  private readonly decoder = new HpackDecoder(TOLERATED_TABLE_BYTES);
  private readonly remembered: RememberedBlock[] = [];

  /** Reads the block `bytes[start, end)`. @throws ProtocolError */
  read(bytes: Uint8Array, start = 0, end = bytes.length): readonly Header[] {
    const { generation } = this.decoder;
    for (const entry of this.remembered) {
      if (entry.generation === generation && isEqual(entry.block, bytes, start, end)) return entry.headers;
    }
    const block = bytes.slice(start, end);
    const headers = this.decoder.decode(block);
    // A block that changed the table must be decoded again.
    if (this.decoder.generation === generation) {
      if (this.remembered.length === REMEMBERED_BLOCKS) this.remembered.shift();
      this.remembered.push({ block, headers, generation });
    }
    return headers;
  }
}

function isEqual(block: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  return block.length === end - start && isSameBytes(block, 0, bytes, start, block.length);
}
