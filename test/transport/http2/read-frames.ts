import { FrameReader } from "../../../src/transport/http2/frame-reader.ts";
import { FLAG } from "../../../src/transport/http2/frames.ts";
import { toText } from "../bytes.ts";

/** What a frame reader told, as comparable text. */
export function readFrames(pieces: readonly Uint8Array[]): string[] {
  const told: string[] = [];
  const reader = new FrameReader({
    onFrame: ({ type, flags, streamId }, bytes, start, end) => {
      told.push(`frame ${type} ${flags} ${streamId} ${JSON.stringify(toText(bytes.subarray(start, end)))}`);
    },
    onHeaderBlock: ({ flags, streamId }, bytes, start, end) => {
      told.push(
        `headers ${streamId} ${(flags & FLAG.endStream) !== 0 ? "last" : "open"} ${JSON.stringify(toText(bytes.subarray(start, end)))}`,
      );
    },
  });
  for (const [index, piece] of pieces.entries()) {
    if (index < 5) reader.expectHttp2(piece);
    reader.feed(piece);
  }
  return told;
}
