import { toCString } from "../../../runtime/ffi/ffi.ts";
import { Cell, type TritonLibrary } from "./library.ts";
import type { Regions } from "./regions.ts";

/** A query in the form that Triton's HTTP front end receives. */
export interface ServerQuery {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const NEWEST_VERSION = -1n;
const CONFIG_VERSION = 1;
const ONLY_READY = 1;
const MODEL = /^\/v2\/models\/([^/]+)(?:\/versions\/(\d+))?(\/config|\/stats)?$/;
const REGION = /^\/v2\/(system|cuda)sharedmemory\/region\/([^/]+)\/(register|unregister)$/;

/** Answers the queries of a run from Triton's C API, with the same JSON as its HTTP front end. */
export class QueryResponses {
  private readonly triton: TritonLibrary;
  private readonly server: bigint;
  private readonly regions: Regions;

  constructor(triton: TritonLibrary, server: bigint, regions: Regions) {
    this.triton = triton;
    this.server = server;
    this.regions = regions;
  }

  /** @throws TritonError, or Error if the query is unknown */
  answer({ path, body }: ServerQuery): Uint8Array {
    if (path === "/v2") return this.ask("ServerMetadata");
    if (path === "/v2/repository/index") return this.ask("ServerModelIndex", ONLY_READY);
    if (path === "/v2/models/stats") return this.ask("ServerModelStatistics", toCString(""), NEWEST_VERSION);
    const region = REGION.exec(path);
    if (region !== null) return this.share(region, body);
    const [, name = "", version, part] = MODEL.exec(path) ?? [];
    if (name === "") throw new Error(`Triton's library has no response to ${path}`);
    const model = [toCString(decodeURIComponent(name)), version === undefined ? NEWEST_VERSION : BigInt(version)];
    if (part === "/config") return this.ask("ServerModelConfig", ...model, CONFIG_VERSION);
    return this.ask(part === "/stats" ? "ServerModelStatistics" : "ServerModelMetadata", ...model);
  }

  /** Calls a function that returns a message. */
  private ask(
    name: "ServerMetadata" | "ServerModelIndex" | "ServerModelStatistics" | "ServerModelConfig" | "ServerModelMetadata",
    ...args: readonly (number | bigint | Uint8Array)[]
  ): Uint8Array {
    const { triton } = this;
    const [message, text, size] = [new Cell(), new Cell(), new Cell()];
    triton.call(name, this.server, ...args, message.bytes);
    triton.call("MessageSerializeToJson", message.value, text.bytes, size.bytes);
    const bytes = triton.readMemory(text.value, Number(size.value));
    triton.call("MessageDelete", message.value);
    return bytes;
  }

  private share([, kind, name = "", verb]: RegExpExecArray, body: string): Uint8Array {
    const region = decodeURIComponent(name);
    if (kind === "cuda") throw new Error("memory of a GPU cannot be shared with Triton in process");
    if (verb === "unregister") this.regions.unregister(region);
    else {
      const { key, offset = 0, byte_size: sizeBytes } = JSON.parse(body) as Record<string, never>;
      this.regions.register(region, String(key), Number(offset), Number(sizeBytes));
    }
    return new Uint8Array(0);
  }
}
