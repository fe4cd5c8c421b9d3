import type { IncomingMessage, ServerResponse } from "node:http";
import type { MockPlan } from "../../plan/mock.ts";

/** A protocol that `rampart mock` serves if its option is given: everything that the command and its servers need to know about it. */
export interface MockService {
  /** Placeholder of the option's value in help; absent for a switch. */
  readonly value?: string;
  readonly help: string;
  /** Creates the service. @param value of the option; empty for a switch @throws UserError for an invalid value */
  create(plan: MockPlan, value: string): MockHandlers | Promise<MockHandlers>;
}

/** Request handlers of a service. */
export interface MockHandlers {
  /** Describes the service and its address for a line of the command's output: `torchserve http HOST:PORT/predictions/simple`. */
  describe(httpAddress: string, grpcAddress: string): string;
  /** Answers an HTTP request. Returns false for paths of other services. Absent: the service has no HTTP paths. */
  answerHttp?(request: MockHttpRequest, response: ServerResponse): boolean | Promise<boolean>;
  /** gRPC methods by path: `/package.Service/Method`. */
  readonly methods?: Readonly<Record<string, MockMethod>>;
}

/** A received HTTP request. */
export interface MockHttpRequest {
  /** Method in upper case. */
  readonly method: string;
  /** Path without the query and without a slash at the end. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * Answers a gRPC call of any type: receives the messages of the request and returns those of the response. The call ends with
 * OK, or with the status of a thrown `StatusError`. A thrown `CutError` cuts it off.
 */
export type MockMethod = (messages: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Responds with JSON, unless the client has disconnected. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
