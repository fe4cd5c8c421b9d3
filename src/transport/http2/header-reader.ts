import { isSameBytes } from "../../runtime/same-bytes.ts";
import type { Header } from "../request.ts";
import { HpackDecoder } from "./hpack.ts";

const REMEMBERED_BLOCKS = 4;

/** This side announces a table of 0 bytes, but some servers go on with HPACK's default: what they send is understood all the same. */
const TOLERATED_TABLE_BYTES = 4096;

interface RememberedBlock {
  readonly block: Uint8Array;
  readonly headers: readonly Header[];
  /** The dynamic table's state for which the block has this meaning. */
  readonly generation: number;
}

/**
 * Decodes the header blocks of one connection, in order. Servers repeat the same few blocks for every response: while the dynamic table
 * stays as it is, a block with the same bytes means the same, and the same list is returned.
 */
export class HeaderReader {
  private readonly decoder = new HpackDecoder(TOLERATED_TABLE_BYTES);
  private readonly remembered: RememberedBlock[] = [];

  /** Reads the block `bytes[start, end)`. Throws `ProtocolError`. */
  read(bytes: Uint8Array, start = 0, end = bytes.length): readonly Header[] {
    const { generation } = this.decoder;
    for (const entry of this.remembered) {
      if (entry.generation === generation && isEqual(entry.block, bytes, start, end)) return entry.headers;
    }
    const block = bytes.slice(start, end);
    const headers = this.decoder.decode(block);
    // A block that changed the table would change it again, or mean something else.
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
