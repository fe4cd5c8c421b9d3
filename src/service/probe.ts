/** How servers of a kind are recognized. */

/** How to recognize servers of a kind. */
export interface ServiceApi {
  /** For codes of errors: `kserve`. */
  readonly name: string;
  /** The API's name in texts: `KServe v2 (Triton)`. */
  readonly label: string;
  /** What servers of the kind answer, each on its own protocol. Empty: its servers cannot be recognized. */
  readonly probes: readonly ServiceProbe[];
}

/** A cheap request without side effects that only servers of a kind answer in a way of their own: a GET over HTTP, or a unary gRPC call. */
export type ServiceProbe =
  | { readonly protocol: "http"; readonly path: string; readonly recognize: Recognize<HttpProbeResponse> }
  | {
      readonly protocol: "grpc";
      /** `/package.Service/Method`. */
      readonly path: string;
      readonly payload: Uint8Array;
      readonly recognize: Recognize<GrpcProbeResponse>;
    };

/** Returns a description of the server, such as `Triton 2.51.0`, or undefined when the response is not that of a server of the kind. */
export type Recognize<A> = (response: A) => string | undefined;

/** The response to a probe over HTTP. */
export interface HttpProbeResponse {
  readonly status: number;
  /** The body as received, perhaps with the lengths of its chunks. */
  readonly text: string;
}

/** The response to a probe over gRPC. */
export interface GrpcProbeResponse {
  /** gRPC status; 0: OK. */
  readonly status: number;
  readonly message: string;
  /** The response message; empty after an error. */
  readonly body: Uint8Array;
}
