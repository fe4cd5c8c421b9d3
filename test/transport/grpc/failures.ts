/** What gRPC clients say of calls that went wrong, the same whichever client it is. */

const protocol = (message: string) => ({ kind: "protocol", message }) as const;

export const COMPRESSED = protocol("compressed gRPC message without a grpc-encoding");
export const NO_MESSAGE = protocol("status OK without a message");
export const NO_STATUS = protocol("response ended without grpc-status");
export const NO_TRAILERS = protocol("response ended without trailers");
export const CLOSED = {
  kind: "closed",
  message: "server closed the connection before the response was complete",
} as const;

/** @param code the name of HTTP/2's error code */
export const resetWith = (code: string) => ({ kind: "closed", message: `server reset the stream (${code})` }) as const;
