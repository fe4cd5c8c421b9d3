import type { ReadStreamed } from "../../transport/streamed-responses.ts";
import type { TensorCodec } from "../content.ts";
import type { Query, ServiceSharedMemory, TraceQueries } from "../service.ts";
import type { TritonModel } from "./model.ts";

/** A model and version; an empty version: the server chooses. */
export interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** Triton's queries, the same over HTTP and gRPC, with responses of the same form. */
export interface TritonApi {
  metadata(model: ModelName): Query;
  config(model: ModelName): Query;
  server(): Query;
  /** @param model undefined for all models */
  statistics(model: ModelName | undefined): Query;
  /** Queries the repository's models that are ready. */
  index(): Query;
  /** Queries the names of the models that a server without a repository has. Absent: the protocol has no such query. */
  names?(): Query;
  readonly sharedMemory: Pick<ServiceSharedMemory, "register" | "unregister">;
}

/** What differs between Triton's HTTP and gRPC front ends. */
export interface FrontEnd {
  readonly api: TritonApi;
  readonly readStreamed?: ReadStreamed;
  /** There is no network: streams need no protocol. Default: false. */
  readonly isInProcess?: true;
  /** Absent: there are no trace settings. */
  readonly traceQueries?: () => Promise<TraceQueries>;
  /** @param isJson the server does not list binary tensors: use JSON unless the user chose binary */
  createCodec(model: TritonModel, isJson: boolean): TensorCodec;
}
