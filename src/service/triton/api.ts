import type { ReadStreamed } from "../../transport/streamed-responses.ts";
import type { Query, ServiceSharedMemory, TensorCodec, TraceQueries } from "../service.ts";
import type { TritonModel } from "./model.ts";

/** The calls to Triton that are not inference: the same questions over HTTP and gRPC, with answers of the same form. */

/** A model and version; an empty version leaves the choice to the server. */
export interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** The questions. */
export interface TritonApi {
  metadata(model: ModelName): Query;
  config(model: ModelName): Query;
  server(): Query;
  /** @param model undefined for all models */
  statistics(model: ModelName | undefined): Query;
  /** The repository's models that are ready. */
  index(): Query;
  readonly sharedMemory: Pick<ServiceSharedMemory, "register" | "unregister">;
}

/** What differs between Triton's two front ends. */
export interface FrontEnd {
  readonly api: TritonApi;
  readonly readStreamed?: ReadStreamed;
  traceQueries(): Promise<TraceQueries>;
  /** @param isJson the server reads and writes no binary tensors, whatever the plan says */
  createCodec(model: TritonModel, isJson: boolean): TensorCodec;
}
