import { latin1, toText } from "../bytes.ts";

/** A request a server received. */
export interface ReceivedRequest {
  readonly line: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

const END_OF_HEAD = latin1("\r\n\r\n");

/** The complete requests in what a connection received, bodies by Content-Length. */
export function requestsIn(bytes: Uint8Array): ReceivedRequest[] {
  const requests: ReceivedRequest[] = [];
  for (let start = 0; start < bytes.length; ) {
    const headEnd = indexOf(bytes, END_OF_HEAD, start);
    if (headEnd < 0) break;
    const [line = "", ...rest] = toText(bytes.subarray(start, headEnd)).split("\r\n");
    const headers = rest.map((header): [string, string] => {
      const colon = header.indexOf(":");
      return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
    });
    const length = Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0);
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (bodyStart + length > bytes.length) break;
    requests.push({ line, headers, body: bytes.slice(bodyStart, bodyStart + length) });
    start = bodyStart + length;
  }
  return requests;
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  for (let at = from; at + wanted.length <= bytes.length; at++) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}
