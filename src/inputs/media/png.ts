import { adlerOf, CRC_OF_NOTHING, crcOf } from "../../transport/grpc/checksums.ts";

export const PALETTE_COLOURS = 256;

/** An image whose pixels are palette indexes. */
export interface IndexedImage {
  readonly width: number;
  readonly height: number;
  /** RGB, 3 bytes for each of {@link PALETTE_COLOURS}. */
  readonly palette: Uint8Array;
  /** Row by row from the top, `width * height` bytes. */
  readonly pixels: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const BIT_DEPTH = 8;
const INDEXED_COLOUR = 3;
/** Maximum size of a stored block in a deflate stream (RFC 1951, 3.2.4). */
const BLOCK_BYTES = 65535;
/** Header of a zlib stream with a window of 32 KiB and no preset dictionary (RFC 1950). */
const ZLIB_HEADER = [0x78, 0x01];

/** Encodes a PNG file (ISO/IEC 15948) without compression: compressors differ between runtimes, and noise does not compress. */
export function encodePng({ width, height, palette, pixels }: IndexedImage): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = BIT_DEPTH;
  header[9] = INDEXED_COLOUR;
  // Each row starts with its filter type; 0 means no filter.
  const rows = new Uint8Array(height * (width + 1));
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    Uint8Array.from(SIGNATURE),
    makeChunk("IHDR", header),
    makeChunk("PLTE", palette),
    makeChunk("IDAT", storeZlib(rows)),
    makeChunk("IEND", new Uint8Array(0)),
  ]);
}

function makeChunk(type: string, data: Uint8Array): Uint8Array {
  const chunk = new Uint8Array(data.length + 12);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) chunk[4 + i] = type.charCodeAt(i);
  chunk.set(data, 8);
  view.setUint32(data.length + 8, crcOf(chunk.subarray(4, data.length + 8), CRC_OF_NOTHING));
  return chunk;
}

/** Returns a zlib stream of stored blocks. */
function storeZlib(data: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.from(ZLIB_HEADER)];
  for (let start = 0; start < data.length; start += BLOCK_BYTES) {
    const block = data.subarray(start, start + BLOCK_BYTES);
    const size = block.length;
    const isLast = start + size >= data.length ? 1 : 0;
    parts.push(Uint8Array.of(isLast, size & 0xff, size >> 8, ~size & 0xff, (~size >> 8) & 0xff), block);
  }
  const checksum = new Uint8Array(4);
  new DataView(checksum.buffer).setUint32(0, adlerOf(data, 1));
  return Buffer.concat([...parts, checksum]);
}
