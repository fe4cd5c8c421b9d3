import type { Text } from "../../plan/messages.ts";
import { parseJson } from "../../plan/objects.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import type { RunObserver } from "../../result/observer.ts";
import { isMissingStatus, MissingCallError } from "../../service/missing-call.ts";
import type { Ask, Query, ServiceAddress } from "../../service/service.ts";
import { ControlError } from "../../transport/control-client.ts";
import { describeImpliedPort } from "./endpoint.ts";
import type { QueryClients } from "./query-clients.ts";

export interface AskedServer {
  readonly control: QueryClients;
  readonly address: ServiceAddress;
  /** The expected server, in errors: `a KServe v2 server`. */
  readonly serverName: string;
  /** Advice for a server that does not respond in time. Default: check the server, or raise the stall timeout. */
  readonly waitHint?: Text;
}

/** A query that takes longer is reported to the observer. A server that answers nothing at all is an error before that. */
const SLOW_MS = 3500;

/** Creates the function that sends queries and converts failures into `RunError`. */
export function createAsk(
  { control, address, serverName, waitHint = { say: "look-or-wait" } }: AskedServer,
  observer: RunObserver,
  isTracing: boolean,
): Ask {
  let lastTraced: Promise<unknown> = Promise.resolve();
  return async (query: Query, what: string) => {
    const { url = address.url } = query;
    const slow = setTimeout(() => observer.onSlowServer?.(url), SLOW_MS);
    try {
      const response = control.call(query);
      if (isTracing) {
        // Print responses in the order of their queries.
        const earlier = lastTraced;
        lastTraced = response.catch(() => {});
        await earlier;
      }
      const body = await response;
      if (isTracing) observer.onTrace?.({ kind: "reply", text: query.format(body) });
      return query.read(body);
    } catch (error) {
      throw toRunError(error, { address: { ...address, url }, serverName, waitHint }, what);
    } finally {
      clearTimeout(slow);
    }
  };
}

function toRunError(
  error: unknown,
  { address, serverName, waitHint }: Required<Omit<AskedServer, "control">>,
  what: string,
): RunError {
  const failed = what === "" ? "" : `failed to get ${what}: `;
  if (!(error instanceof ControlError))
    return new RunError("refused", `${failed}${messageOf(error)}`, `Is this ${serverName}?`);
  const { failure, body } = error;
  const server = address.url;
  const protocol = address.wire === "http" ? "HTTP" : "gRPC";
  switch (failure.kind) {
    case "connect":
    case "tls": {
      const implied = describeImpliedPort(address);
      const attempt =
        address.wire === "http"
          ? `HTTP client failed: ${failure.kind === "tls" ? "SSL connect error" : "Couldn't connect to server"}`
          : "failed to connect to all addresses; last error";
      const hint = `Is the server running, and is ${server}${implied && ` (${implied})`} its ${protocol} address?`;
      return new RunError("unreachable", `${failed}${attempt}: ${server}: ${failure.message}`, hint, { failure });
    }
    case "stalled":
    case "timeout":
      return new RunError(
        "stalled",
        `${failed}${server} accepted the connection but did not answer: ${failure.message}`,
        waitHint,
      );
    case "limit":
      return new RunError("refused", `${failed}${failure.message}`, `Check what ${server} answers to such requests.`);
    case "http":
    case "grpc":
      return new (isMissingStatus(failure.kind, failure.status) ? MissingCallError : RunError)(
        "refused",
        `${failed}${readServerError(failure.message, body)}`,
        what === "the list of models"
          ? `Is this ${serverName}, under this path?`
          : "Check the model's name and version, and that the server has loaded it.",
        { failure },
      );
    default: {
      const hint = `Is ${server} really the ${protocol} address of ${serverName}?`;
      return new RunError("refused", `${failed}${failure.message}`, hint, { failure });
    }
  }
}

/** Returns the server's message if the response is JSON with an `error`, or with a `message` and its `code`. */
function readServerError(fallback: string, body: Uint8Array | undefined): string {
  if (body === undefined) return fallback;
  const text = new TextDecoder().decode(body);
  const { error, code, message } = (parseJson(text) ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof error === "string") return error;
  if (code !== undefined && typeof message === "string") return message;
  return fallback;
}
