import { type handleBidiStreamingCall, type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";

/** A running server. */
export interface SimpleEcho {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a server of `v1.Simple` (Echo and EchoBidi), which knows nothing of its messages and has no reflection. */
export async function startSimpleEcho(): Promise<SimpleEcho> {
  const server = new Server();
  const same = (bytes: Buffer): Buffer => bytes;
  const define = (name: string, isStream: boolean) => ({
    path: `/v1.Simple/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  });
  const echoBidi: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    call.on("data", (message: Buffer) => call.write(message));
    call.on("end", () => call.end());
  };
  // grpc-js refuses several messages of a unary call, which grpcio, the recorded server, takes: a stream that answers the first one.
  const echo: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    call.once("data", (message: Buffer) => {
      call.write(message);
      call.resume();
    });
    call.on("end", () => call.end());
  };
  server.addService({ Echo: define("Echo", true), EchoBidi: define("EchoBidi", true) }, {
    Echo: echo,
    EchoBidi: echoBidi,
  } as unknown as Record<string, handleUnaryCall<Buffer, Buffer>>);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { port, stop: async () => server.forceShutdown() };
}
