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

  /** Throws `ProtocolError`. */
  read(block: Uint8Array): readonly Header[] {
    const { generation } = this.decoder;
    for (const entry of this.remembered) {
      if (entry.generation === generation && isEqual(entry.block, block)) return entry.headers;
    }
    const headers = this.decoder.decode(block);
    // A block that changed the table would change it again, or mean something else.
    if (this.decoder.generation === generation) {
      if (this.remembered.length === REMEMBERED_BLOCKS) this.remembered.shift();
      this.remembered.push({ block: block.slice(), headers, generation });
    }
    return headers;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return false;
  }
  return true;
}
