/** Recognition of servers of a kind. */

/** Data for recognizing servers of a kind. */
export interface ServiceApi {
  /** Name in error codes: `kserve`. */
  readonly name: string;
  /** Name in texts: `KServe v2 (Triton)`. */
  readonly label: string;
  /** Requests that servers of the kind answer, each over its own protocol. Empty: such servers cannot be recognized. */
  readonly probes: readonly ServiceProbe[];
}

/** A cheap request without side effects whose response identifies servers of a kind: a GET over HTTP, or a unary gRPC call. */
export type ServiceProbe =
  | { readonly protocol: "http"; readonly path: string; readonly recognize: Recognize<HttpProbeResponse> }
  | {
      readonly protocol: "grpc";
      /** `/package.Service/Method`. */
      readonly path: string;
      readonly payload: Uint8Array;
      readonly recognize: Recognize<GrpcProbeResponse>;
    };

/** Returns a description of the server, such as `Triton 2.51.0`; undefined if the response is not from a server of the kind. */
export type Recognize<A> = (response: A) => string | undefined;

export interface HttpProbeResponse {
  readonly status: number;
  /** The body as received, possibly with chunk lengths. */
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
