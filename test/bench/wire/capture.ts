/** Reads what tcpdump wrote: the truth about when bytes passed the system's network stack. */

/** A TCP segment with bytes in it, or a client's first. */
export interface Segment {
  /** Wall clock, in nanoseconds since the Unix epoch. */
  readonly epochNs: bigint;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** Empty: the segment opens a connection. */
  readonly payload: Uint8Array;
}

const SYN = 0x02;
const ACK = 0x10;
const MICROSECONDS = 0xa1b2c3d4;
const NANOSECONDS = 0xa1b23c4d;
const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const ETHERNET_HEADER_BYTES = 14;
const ETHERTYPE_IPV4 = 0x0800;
const PROTOCOL_TCP = 6;

/**
 * The segments of a pcap file of the loopback interface, IPv4, in the order in which they passed. Loopback loses and repeats nothing, so
 * segments of a connection are in its order.
 * @throws when it is no such file, or a packet was cut
 */
export function readSegments(file: Uint8Array): Segment[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const isLittle = [MICROSECONDS, NANOSECONDS].includes(view.getUint32(0, true));
  const magic = view.getUint32(0, isLittle);
  if (magic !== MICROSECONDS && magic !== NANOSECONDS) throw new Error("no pcap file");
  const fractionNs = magic === NANOSECONDS ? 1n : 1000n;
  const segments: Segment[] = [];
  let at = FILE_HEADER_BYTES;
  while (at + RECORD_HEADER_BYTES <= file.length) {
    const epochNs =
      BigInt(view.getUint32(at, isLittle)) * 1_000_000_000n + BigInt(view.getUint32(at + 4, isLittle)) * fractionNs;
    const keptBytes = view.getUint32(at + 8, isLittle);
    if (keptBytes < view.getUint32(at + 12, isLittle)) throw new Error("a packet of the capture was cut");
    at += RECORD_HEADER_BYTES;
    const segment = readSegment(file.subarray(at, at + keptBytes));
    if (segment !== undefined) segments.push({ epochNs, ...segment });
    at += keptBytes;
  }
  return segments;
}

function readSegment(packet: Uint8Array): Omit<Segment, "epochNs"> | undefined {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  if (view.getUint16(12) !== ETHERTYPE_IPV4) return undefined;
  const ip = ETHERNET_HEADER_BYTES;
  if (view.getUint8(ip + 9) !== PROTOCOL_TCP) return undefined;
  const tcp = ip + (view.getUint8(ip) & 0x0f) * 4;
  // Segments that the system joined to more than 64 KiB have no length of their own.
  const end = ip + (view.getUint16(ip + 2) || packet.length - ip);
  const payload = packet.subarray(tcp + (view.getUint8(tcp + 12) >> 4) * 4, end);
  const isOpening = (view.getUint8(tcp + 13) & (SYN | ACK)) === SYN;
  if (payload.length === 0 && !isOpening) return undefined;
  return { sourcePort: view.getUint16(tcp), destinationPort: view.getUint16(tcp + 2), payload };
}

/** A request and its streamed response, as they passed. Wall clock, in nanoseconds since the Unix epoch. */
export interface Exchange {
  /** The request's first bytes; where its connection was opened for it, the first segment of that. */
  readonly sentNs: bigint;
  /** Each segment that held, or completed, an event with text. */
  readonly tokenNs: readonly bigint[];
}

/** One event of a chat with text; a chunk's length may stand between its pieces, so an event is looked for only in whole lines. */
const TEXT_EVENT = /"content":"(?:[^"\\]|\\.)+"[^\n]*\n/g;

/** The exchanges with a server that answers chats as events, in the order in which they were sent; one at a time on each connection. */
export function readExchanges(segments: readonly Segment[], serverPort: number): Exchange[] {
  const open = new Map<number, { sentNs: bigint; tokenNs: bigint[]; text: string; isAnswered: boolean }>();
  const exchanges: Exchange[] = [];
  /** Connections without a request yet. Those opened before the first request were not opened for one. */
  const opened = new Map<number, bigint>();
  const decoder = new TextDecoder("latin1");
  for (const { epochNs, sourcePort, destinationPort, payload } of segments) {
    if (destinationPort === serverPort && payload.length === 0) {
      if (exchanges.length > 0) opened.set(sourcePort, epochNs);
      open.delete(sourcePort);
      continue;
    }
    if (destinationPort === serverPort) {
      const present = open.get(sourcePort);
      // A long request has several segments.
      if (present !== undefined && !present.isAnswered) continue;
      const next = { sentNs: opened.get(sourcePort) ?? epochNs, tokenNs: [], text: "", isAnswered: false };
      open.set(sourcePort, next);
      opened.delete(sourcePort);
      exchanges.push(next);
      continue;
    }
    const present = open.get(destinationPort);
    if (sourcePort !== serverPort || present === undefined) continue;
    present.isAnswered = true;
    present.text += decoder.decode(payload);
    TEXT_EVENT.lastIndex = 0;
    let used = 0;
    while (TEXT_EVENT.test(present.text)) used = TEXT_EVENT.lastIndex;
    if (used === 0) continue;
    present.tokenNs.push(epochNs);
    present.text = present.text.slice(used);
  }
  return exchanges.filter(({ tokenNs }) => tokenNs.length > 0);
}
