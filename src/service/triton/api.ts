import type { ReadStreamed } from "../../transport/streamed-responses.ts";
import type { TensorCodec } from "../content.ts";
import type { Query, ServiceSharedMemory, TraceQueries } from "../service.ts";
import type { TritonModel } from "./model.ts";

/** A model and its version. An empty version: the server chooses. */
export interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** Triton's queries, which are the same over HTTP and gRPC, with responses of the same form. */
export interface TritonApi {
  metadata(model: ModelName): Query;
  config(model: ModelName): Query;
  server(): Query;
  /** @param model undefined: all models */
  statistics(model: ModelName | undefined): Query;
  index(): Query;
  /** Queries the names of the models of a server without a repository. Absent: the protocol has no such query. */
  names?(): Query;
  readonly sharedMemory: Pick<ServiceSharedMemory, "register" | "unregister">;
}

/** Differences between Triton's HTTP and gRPC front ends. */
export interface FrontEnd {
  readonly api: TritonApi;
  readonly readStreamed?: ReadStreamed;
  /** True if there is no network, so that streams need no protocol. Default: false. */
  readonly isInProcess?: true;
  /** Absent: no trace settings. */
  readonly traceQueries?: () => Promise<TraceQueries>;
  /** @param isJson whether the server does not list binary tensors, so that JSON is used unless the user chose binary */
  createCodec(model: TritonModel, isJson: boolean): TensorCodec;
}
