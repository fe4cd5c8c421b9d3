import { defined } from "../../plan/objects.ts";
import { countOf } from "../../plan/units.ts";
import type { Payload, PayloadRequest } from "../../service/content.ts";
import type { ChainTurn } from "../../service/http/chain.ts";
import { extractsOf } from "../../service/http/chain-extract.ts";
import { type ChainCallPlan, type ChainInputsPlan, chainSchema } from "../../service/http/chain-plan.ts";
import { fillJson, fillPath, fillText, type Put, placesIn, textsIn } from "../../service/http/chain-texts.ts";
import { type BodyPlan, filesOf } from "../../service/http/requests-plan.ts";
import { type EncodedBody, encodeForm } from "../../service/multipart.ts";
import { type DataStep, NO_TENSORS } from "../dataset.ts";
import type { InputKind } from "../input-kind.ts";
import { encodeBody, encodePart } from "../requests.ts";

const DEFAULT_COUNT = 100;

/** Chains of requests. Each stream is one chain. */
export const chainInputs: InputKind<ChainInputsPlan> = {
  schema: chainSchema,
  makes: "payloads",
  hasNoPrompts: true,
  hasChains: true,
  needsNoModel: true,
  paths: ({ calls }) => calls.flatMap(({ body }) => filesOf(body)),
  orders: () => ["in-sessions"],
  canHaveTags: () => true,
  subject: ({ calls }) => `a chain of ${countOf(calls.length, "call")}`,
  needsSessions: {
    message: "the inputs are a chain of requests, which needs a load of users who send it",
    hint: 'Use sessions(8, { for: "30 s" }), which has 8 users, or sessionRate(5, { for: "30 s" }).',
  },
  load: async (plan) => {
    const turns = plan.calls.map((call) => toDataStep(call, plan));
    const { count = DEFAULT_COUNT } = plan;
    const streams = Array.from({ length: count }, () => turns);
    const sessionCount = plan.count === undefined ? "default" : "given";
    const userCount = plan.users?.length ?? 1;
    return { streams, isFromJson: true, sessionCount, userCount, hasTags: true, warnings: [] };
  },
};

function toDataStep(call: ChainCallPlan, { calls, users, showsValues }: ChainInputsPlan): DataStep {
  const { name, thinkTime, isOnce } = call;
  const fill = compileCall(call);
  const { bytes, request } = fill(EMPTY);
  const origin: ChainTurn = {
    name,
    isOnce: isOnce === true,
    extracts: extractsOf(call, calls),
    fill,
    users,
    showsValues: showsValues === true,
  };
  return {
    payload: bytes,
    ...defined({ request }),
    inputs: NO_TENSORS,
    expected: NO_TENSORS,
    origin,
    // Any response may set cookies.
    readsHeaders: true,
    tags: { call: name },
    ...defined({ thinkTime }),
  };
}

/** Leaves placeholders empty, for requests that are not sent to a server. */
const EMPTY: Put = (_, write) => write("");

const NO_BODY: EncodedBody = { bytes: new Uint8Array(0), contentType: "" };

/**
 * Returns a function that makes the request of a call with values. A request without placeholders is encoded once. @throws UserError if
 * a file cannot be read
 */
function compileCall({ method, path, headers = [], body }: ChainCallPlan): ChainTurn["fill"] {
  const encode = body === undefined ? () => NO_BODY : compileBody(body);
  const fill = (put: Put): Payload => {
    const { bytes, contentType } = encode(put);
    const request: PayloadRequest = {
      method,
      ...(path === undefined ? {} : { path: fillPath(path, put) }),
      headers: headers.map(([name, text]) => [name, fillText(text, put)] as const),
      ...(contentType === "" ? {} : { contentType }),
    };
    return { bytes, request };
  };
  const texts = [path ?? "", ...headers.map(([, text]) => text), ...(body === undefined ? [] : textsIn(body))];
  if (texts.some((text) => placesIn(text).length > 0)) return fill;
  const fixed: Payload = { ...fill(EMPTY), isFixed: true };
  return () => fixed;
}

function compileBody(body: BodyPlan): (put: Put) => EncodedBody {
  if (body.form === "multipart") {
    const parts = body.parts.map((part) => {
      const { value } = part;
      const encoded = encodePart(part);
      return value.form === "text"
        ? (put: Put) => encodePart({ ...part, value: { ...value, text: fillText(value.text, put) } })
        : () => encoded;
    });
    return (put) => encodeForm(parts.map((fillPart) => fillPart(put)));
  }
  if (body.form === "json" || body.form === "text") {
    const fillBody = body.form === "json" ? fillJson : fillText;
    return (put) => encodeBody({ ...body, text: fillBody(body.text, put) });
  }
  const encoded = encodeBody(body);
  return () => encoded;
}
