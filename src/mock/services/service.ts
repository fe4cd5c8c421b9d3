import type { IncomingMessage, ServerResponse } from "node:http";
import type { MockPlan } from "../../plan/mock.ts";

/** A protocol that `rampart mock` speaks when its option is given: everything that the command and its servers ask about it. */
export interface MockService {
  /** Placeholder of the option's value in help; absent for a switch. */
  readonly value?: string;
  readonly help: string;
  /**
   * Creates the service with the mock's latency and faults.
   * @param value of the option; empty for a switch
   * @throws UserError for a value that cannot be used
   */
  create(plan: MockPlan, value: string): MockHandlers | Promise<MockHandlers>;
}

/** What a service answers with. */
export interface MockHandlers {
  /** What it is and where, for the line that the command prints: `torchserve http HOST:PORT/predictions/simple`. */
  describe(httpAddress: string, grpcAddress: string): string;
  /** Answers an HTTP request. Absent: it has no HTTP paths. Returns false for paths of others. */
  answerHttp?(request: MockHttpRequest, response: ServerResponse): boolean | Promise<boolean>;
  /** gRPC methods by path: `/package.Service/Method`. */
  readonly methods?: Readonly<Record<string, MockMethod>>;
}

/** A received HTTP request. */
export interface MockHttpRequest {
  /** Upper-case. */
  readonly method: string;
  /** Without the query and without a slash at the end. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * Answers a gRPC call of any type: takes the messages of the request, and returns those of the response. A response ends with OK, and with
 * the status of a thrown `StatusError`. A thrown `CutError` cuts it off.
 */
export type MockMethod = (messages: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Answers with JSON, unless the client has left. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
