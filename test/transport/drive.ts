import type { Call } from "../../src/transport/call.ts";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import type { Failure } from "../../src/transport/failure.ts";
import type { Endpoint, WireRequest } from "../../src/transport/request.ts";
import { toText, utf8 } from "./bytes.ts";

/** What became of one request. */
export interface Outcome {
  readonly failure: Failure | undefined;
  readonly body: Uint8Array;
  readonly jsonBytes: number;
  readonly responseCount: number;
  readonly messageCount: number;
  /** One by one, where a stream carried them. */
  readonly responses: Call["responses"];
  readonly times: readonly [sendStart: number, sendEnd: number, firstByte: number, end: number];
}

/** A load client with promises in front of it. Counts how often each request was reported: it must be once. */
export class Driver implements Disposable {
  readonly client: LoadClient;
  doneCount = 0;
  private readonly waiting: (((outcome: Outcome) => void) | undefined)[] = [];

  constructor(create: (options: ClientOptions) => LoadClient, options: Partial<ClientOptions> = {}) {
    this.client = create({
      responses: { keepBodies: true },
      stallTimeoutNs: 30e9,
      maxResponseBytes: 64e6,
      lanes: { laneCount: 1 },
      ...options,
      onDone: (call) => this.done(call),
    });
  }

  /** Sends on a slot and flushes; resolves with what came of it. */
  request(slot: number, request: WireRequest, id?: string): Promise<Outcome> {
    const outcome = this.queue(slot, request, id);
    this.client.flush();
    return outcome;
  }

  /** Sends without flushing. */
  queue(slot: number, request: WireRequest, id?: string): Promise<Outcome> {
    if (this.waiting[slot] !== undefined) throw new Error(`slot ${slot} is busy`);
    const outcome = new Promise<Outcome>((resolve) => {
      this.waiting[slot] = resolve;
    });
    this.client.send(slot, request, id === undefined ? undefined : utf8(id));
    return outcome;
  }

  close(): void {
    this.client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private done(call: Call): void {
    this.doneCount++;
    const resolve = this.waiting[call.slot];
    if (resolve === undefined) throw new Error(`slot ${call.slot} was reported twice`);
    this.waiting[call.slot] = undefined;
    resolve({
      failure: call.failure,
      body: call.body ?? new Uint8Array(0),
      jsonBytes: call.jsonBytes,
      responseCount: call.responseCount,
      messageCount: call.messageCount,
      responses: [...call.responses],
      times: [call.sendStartNs, call.sendEndNs, call.firstByteNs, call.endNs],
    });
    // The outcome has the body now: it is not freed with the call's.
    call.body = undefined;
    call.dropResponses();
  }
}

/** Creates a driver, and opens connections for `slots` requests. */
export async function openDriver(
  create: (options: ClientOptions) => LoadClient,
  slots = 1,
  options: Partial<ClientOptions> = {},
): Promise<Driver> {
  const driver = new Driver(create, options);
  await driver.client.reserve(slots);
  return driver;
}

/** A loopback endpoint. */
export function endpointAt(port: number, more: Partial<Endpoint> = {}): Endpoint {
  return { host: "127.0.0.1", port, authority: `127.0.0.1:${port}`, pathPrefix: "", headers: [], ...more };
}

export function getRequest(path: string, headers: WireRequest["headers"] = []): WireRequest {
  return { path, method: "GET", headers, payload: new Uint8Array(0) };
}

export function postRequest(path: string, payload: Uint8Array, more: Partial<WireRequest> = {}): WireRequest {
  return { path, method: "POST", headers: [], payload, ...more };
}

/** The texts of an outcome's responses. */
export const textsOf = ({ responses }: Outcome): string[] => responses.map(({ body }) => toText(body));
