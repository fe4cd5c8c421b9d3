import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { statisticsOf } from "./kserve-statistics.ts";

/**
 * A KServe v2 server over HTTP that writes down everything it is sent, for tests of what goes over the wire and when. It is written
 * apart from `src/mock`: its model, its timing and its faults are the test's, and its statistics are made of round numbers.
 */

/** An input or output of the server's model. */
export interface KserveTensor {
  readonly name: string;
  readonly datatype: string;
  /** Without the batch dimension. */
  readonly dims: readonly number[];
  readonly isOptional?: boolean;
}

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly arrivedMs: number;
  /** The client's port: which connection it came over. */
  readonly port: number;
  /** The client's address. */
  readonly from: string;
}

/** An inference request, read. */
export interface SeenInfer extends SeenRequest {
  /** 0 for the first inference request. */
  readonly index: number;
  readonly json: InferJson;
  /** What follows the JSON. */
  readonly binary: Uint8Array;
}

interface TensorJson {
  readonly name: string;
  readonly datatype: string;
  readonly shape: number[];
  readonly data?: unknown[];
  readonly parameters?: {
    readonly binary_data_size?: number;
    readonly binary_data?: boolean;
    readonly shared_memory_region?: string;
    readonly shared_memory_offset?: number;
    readonly shared_memory_byte_size?: number;
  };
}

/** The JSON part of an inference request. */
export interface InferJson {
  readonly id?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly inputs: TensorJson[];
  readonly outputs?: TensorJson[];
}

/** A shared memory region as it was registered. */
export interface SeenRegion {
  readonly kind: "system" | "cuda";
  readonly name: string;
  readonly key?: string;
  readonly offset?: number;
  readonly byte_size: number;
  readonly raw_handle?: { readonly b64: string };
  readonly device_id?: number;
}

/** How the server behaves. */
export interface KserveOptions {
  readonly model?: string;
  readonly maxBatchSize?: number;
  readonly inputs?: readonly KserveTensor[];
  readonly outputs?: readonly KserveTensor[];
  /** False: no statistics extension. */
  readonly hasStatistics?: boolean;
  readonly isResponseCacheEnabled?: boolean;
  /** The model takes sequences. */
  readonly isSequence?: boolean;
  /** Told of each asked change of the trace settings: a string is the error to answer with status 400, `"hang"` no response at all. */
  readonly onTrace?: (change: Readonly<Record<string, unknown>>) => string | undefined;
  /** What else the model's configuration says. */
  readonly config?: object;
  /** Other models, which the model calls so many times per request. */
  readonly called?: readonly KserveCalled[];
  /** Whether a query for its statistics fails. Default: false. */
  readonly failsStatistics?: boolean;
  /** How long the server takes to tell its statistics. Default: 0. */
  readonly statisticsDelayMs?: number;
  /** How long the server takes to tell of its model. Default: 0. */
  readonly metadataDelayMs?: number;
  /** Awaited before a call about shared memory is answered; a string is the error to answer. */
  readonly onRegion?: (verb: string, name: string) => Promise<string | undefined> | string | undefined;
  /**
   * Awaited before an inference is answered. A string is the error to answer with status 400; `"drop"` closes the connection. Default: it takes
   * {@link SERVICE_MS}.
   */
  readonly onInfer?: (request: SeenInfer) => Promise<string | undefined> | string | undefined;
}

/** A model that the measured one calls. */
export interface KserveCalled {
  readonly name: string;
  readonly version: string;
  readonly timesPerRequest: number;
  readonly config?: object;
}

const ELEMENT_BYTES: Readonly<Record<string, number>> = {
  INT8: 1,
  UINT8: 1,
  BOOL: 1,
  INT32: 4,
  FP32: 4,
  INT64: 8,
  FP64: 8,
};
const INT32_16 = { datatype: "INT32", dims: [16] };

/** A running server. */
export class KserveServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly infers: SeenInfer[] = [];
  /** Every region ever registered, and by name those that are now. */
  readonly seenRegions: SeenRegion[] = [];
  readonly regions = new Map<string, SeenRegion>();
  outstanding = 0;
  maxOutstanding = 0;
  /** Its trace settings, as Triton has them over HTTP. */
  trace: Readonly<Record<string, unknown>> = {
    trace_level: ["OFF"],
    trace_rate: "1000",
    trace_count: "-1",
    log_frequency: "0",
    trace_file: "",
    trace_mode: "triton",
  };
  successCount = 0;
  failCount = 0;
  inferenceCount = 0;
  port = 0;
  private readonly options: KserveOptions;
  private readonly server: Server;
  private readonly waiting: { isMet: () => boolean; settle: () => void }[] = [];
  private gate: Promise<void> | undefined;
  private openGate: () => void = () => {};

  constructor(options: KserveOptions) {
    this.options = options;
    this.server = createServer((request, response) => {
      void this.answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) sendJson(response, 500, { error: String(error) });
      });
    });
  }

  get model(): string {
    return this.options.model ?? "simple";
  }

  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  get inputs(): readonly KserveTensor[] {
    return this.options.inputs ?? ["INPUT0", "INPUT1"].map((name) => ({ name, ...INT32_16 }));
  }

  get outputs(): readonly KserveTensor[] {
    return this.options.outputs ?? ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, ...INT32_16 }));
  }

  start(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(0, "127.0.0.1", () => {
        this.port = (this.server.address() as AddressInfo).port;
        resolve(this);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.release();
    this.server.closeAllConnections?.();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** From now on inferences are not answered. */
  hold(): void {
    this.gate = new Promise((resolve) => {
      this.openGate = resolve;
    });
  }

  /** Answers what is held. */
  release(): void {
    this.gate = undefined;
    this.openGate();
  }

  /** Resolves as soon as `isMet` is true; it is asked at each arrival and each response. */
  until(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((settle) => this.waiting.push({ isMet, settle }));
  }

  private changed(): void {
    for (const entry of [...this.waiting]) {
      if (!entry.isMet()) continue;
      this.waiting.splice(this.waiting.indexOf(entry), 1);
      entry.settle();
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedMs = performance.now();
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece as Uint8Array);
    const seen: SeenRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: new Uint8Array(Buffer.concat(pieces)),
      arrivedMs,
      port: request.socket.remotePort ?? 0,
      from: request.socket.remoteAddress ?? "",
    };
    this.requests.push(seen);
    if (seen.path.endsWith("/infer")) await this.infer(seen, request, response);
    else if (seen.path === "/v2/trace/setting") this.answerTrace(seen, response);
    else if (seen.path.includes("sharedmemory/")) await this.answerRegion(seen, response);
    else this.answerQuestion(seen.path, response);
    this.changed();
  }

  private answerTrace({ method, body }: SeenRequest, response: ServerResponse): void {
    const change = method === "POST" ? (JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>) : {};
    const error = method === "POST" ? this.options.onTrace?.(change) : undefined;
    if (error === "hang") return;
    if (error === undefined) this.trace = { ...this.trace, ...change };
    sendJson(response, error === undefined ? 200 : 400, error === undefined ? this.trace : { error });
  }

  private async answerRegion(seen: SeenRequest, response: ServerResponse): Promise<void> {
    const [, kind, part = "", verb = ""] =
      /^\/v2\/(system|cuda)sharedmemory\/region\/([^/]+)\/(register|unregister)$/.exec(seen.path) ?? [];
    const name = decodeURIComponent(part);
    const error = await this.options.onRegion?.(verb, name);
    if (error !== undefined) sendJson(response, 400, { error });
    else if (kind === undefined) sendJson(response, 404, { error: `unexpected ${seen.path}` });
    else if (verb === "unregister") {
      this.regions.delete(name);
      response.end();
    } else if (this.regions.has(name))
      sendJson(response, 400, { error: `shared memory region '${name}' already in manager` });
    else {
      const region = { kind, name, ...JSON.parse(new TextDecoder().decode(seen.body)) } as SeenRegion;
      this.regions.set(name, region);
      this.seenRegions.push(region);
      response.end();
    }
  }

  private answerQuestion(path: string, response: ServerResponse): void {
    const base = `/v2/models/${this.model}`;
    const suffix = path.startsWith(base) ? path.slice(base.length).replace(/^\/versions\/[^/]+/, "") : undefined;
    if (path === "/v2") sendJson(response, 200, { name: "test", version: "1", extensions: this.extensions });
    else if (suffix === "") setTimeout(() => sendJson(response, 200, this.metadata), this.options.metadataDelayMs ?? 0);
    else if (suffix === "/config") sendJson(response, 200, this.config);
    else if (suffix === "/stats" && this.options.failsStatistics === true)
      sendJson(response, 500, { error: "the statistics are out of order" });
    else if (suffix === "/stats")
      setTimeout(() => sendJson(response, 200, this.statistics), this.options.statisticsDelayMs ?? 0);
    else if (path === "/v2/models/stats") sendJson(response, 200, this.statistics);
    else if (this.findCalled(path) !== undefined) sendJson(response, 200, this.findCalled(path)?.config ?? {});
    else sendJson(response, 400, { error: `Request for unknown model: '${path}' is not found` });
  }

  private findCalled(path: string): KserveCalled | undefined {
    return this.options.called?.find(
      ({ name, version }) =>
        path === `/v2/models/${name}/config` || path === `/v2/models/${name}/versions/${version}/config`,
    );
  }

  private async infer(seen: SeenRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headBytes = Number(seen.headers["inference-header-content-length"] ?? seen.body.length);
    const json = JSON.parse(new TextDecoder().decode(seen.body.subarray(0, headBytes))) as InferJson;
    const infer: SeenInfer = { ...seen, index: this.infers.length, json, binary: seen.body.subarray(headBytes) };
    this.infers.push(infer);
    this.outstanding++;
    this.maxOutstanding = Math.max(this.maxOutstanding, this.outstanding);
    this.changed();
    await this.gate;
    const error = await (this.options.onInfer ?? takeService)(infer);
    this.outstanding--;
    if (error === "drop") request.socket.destroy();
    else if (error === undefined) this.succeed(infer, response);
    else {
      this.failCount++;
      sendJson(response, 400, { error });
    }
  }

  private succeed(infer: SeenInfer, response: ServerResponse): void {
    const batch = (this.options.maxBatchSize ?? 8) > 0 ? (infer.json.inputs[0]?.shape[0] ?? 1) : undefined;
    this.successCount++;
    this.inferenceCount += batch ?? 1;
    const binary: Uint8Array[] = [];
    const outputs = this.outputs.map(({ name, datatype, dims }) => {
      const shape = [...(batch === undefined ? [] : [batch]), ...dims.map((dim) => Math.max(1, dim))];
      const count = shape.reduce((product, dim) => product * dim, 1);
      const wanted = infer.json.outputs?.find((output) => output.name === name);
      if (wanted?.parameters?.shared_memory_region !== undefined) return { name, datatype, shape };
      if (wanted?.parameters?.binary_data !== true)
        return { name, datatype, shape, data: new Array(count).fill(datatype === "BYTES" ? "" : 0) };
      const bytes = new Uint8Array(count * (ELEMENT_BYTES[datatype] ?? 4));
      binary.push(bytes);
      return { name, datatype, shape, parameters: { binary_data_size: bytes.length } };
    });
    const id = infer.json.id === undefined || infer.json.id === "" ? {} : { id: infer.json.id };
    const head = Buffer.from(JSON.stringify({ ...id, model_name: this.model, model_version: "1", outputs }));
    const body = Buffer.concat([head, ...binary]);
    response.writeHead(200, {
      "Content-Type": "application/octet-stream",
      "Content-Length": body.length,
      ...(binary.length > 0 ? { "Inference-Header-Content-Length": head.length } : {}),
    });
    response.end(body);
  }

  private get extensions(): string[] {
    return this.options.hasStatistics === false ? ["binary_tensor_data"] : ["binary_tensor_data", "statistics"];
  }

  private get metadata(): object {
    const isBatched = (this.options.maxBatchSize ?? 8) > 0;
    const describe = ({ name, datatype, dims }: KserveTensor): object => ({
      name,
      datatype,
      shape: [...(isBatched ? [-1] : []), ...dims],
    });
    return {
      name: this.model,
      versions: ["1"],
      platform: "test",
      inputs: this.inputs.map(describe),
      outputs: this.outputs.map(describe),
    };
  }

  private get config(): object {
    const describe = ({ name, datatype, dims, isOptional }: KserveTensor): object => ({
      name,
      data_type: `TYPE_${datatype === "BYTES" ? "STRING" : datatype}`,
      dims,
      ...(isOptional === true ? { optional: true } : {}),
    });
    return {
      name: this.model,
      max_batch_size: this.options.maxBatchSize ?? 8,
      input: this.inputs.map(describe),
      output: this.outputs.map(describe),
      ...(this.options.isSequence === true ? { sequence_batching: { max_sequence_idle_microseconds: 5_000_000 } } : {}),
      ...(this.options.isResponseCacheEnabled === true ? { response_cache: { enable: true } } : {}),
      ...this.options.config,
    };
  }

  private get statistics(): object {
    const own = statisticsOf(this.model, "1", this.successCount, this.inferenceCount, this.failCount);
    const called = (this.options.called ?? []).map(({ name, version, timesPerRequest }) => {
      const count = this.successCount * timesPerRequest;
      return statisticsOf(name, version, count, count, 0);
    });
    return { model_stats: [own, ...called] };
  }
}

/** Starts a server, hands it to `use` and stops it afterwards. */
export async function withServer<T>(options: KserveOptions, use: (server: KserveServer) => Promise<T>): Promise<T> {
  await using server = await new KserveServer(options).start();
  return await use(server);
}

/** A closed loop at a server that takes no time would keep a core busy for as long as it is measured. */
const SERVICE_MS = 2;
const takeService = (): Promise<undefined> => takeMs(SERVICE_MS);

/** Resolves after a while: how long a server takes, never how long a test waits. */
export function takeMs(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
