import { functionOf } from "../../plan/functions.ts";
import { messageOf } from "../../plan/problem.ts";
import type { ResponseReader } from "../response-reader.ts";
import { joinBytes } from "../tensor.ts";
import type { CustomOrigin } from "./encode.ts";
import type { CheckOutput, CustomResponse, DecodeResponse, ExtractValue } from "./functions.ts";
import type { CustomTargetPlan } from "./target.ts";
import { describeUserError, findUnreadable } from "./user-error.ts";

const decoder = new TextDecoder();

/** Creates the reader of a target's responses; undefined when neither `check` nor `extract` needs their content. */
export function createCustomReader(target: CustomTargetPlan): ResponseReader | undefined {
  const { extract = {} } = target;
  if (target.check === undefined && Object.keys(extract).length === 0) return undefined;
  const decode = target.decode && functionOf<DecodeResponse<unknown>>(target.decode);
  const check = target.check && functionOf<CheckOutput<unknown, unknown>>(target.check);
  const values = Object.entries(extract).map(([name, plan]) => ({
    name,
    find: functionOf<ExtractValue<unknown, unknown>>(plan),
  }));
  return {
    names: Object.keys(extract),
    read: (bodies, content) => {
      const { input } = originOf(content);
      let stage = "decode";
      try {
        const response = createResponse(bodies);
        const output = decode === undefined ? response : refusePromise(decode(response));
        stage = "check";
        const problem = refusePromise(check?.(output, input));
        if (typeof problem === "string") return { kind: "validation", message: problem };
        if (problem === false) return { kind: "validation", message: "the scenario's check returned false" };
        return values.map(({ name, find }) => {
          stage = `extract.${name}`;
          return toPlainValue(refusePromise(find(output, input)));
        });
      } catch (error) {
        const message = `${stage} of ${target.model} throws: ${describeUserError(error)}`;
        return { kind: stage === "decode" ? "unreadable" : "validation", message };
      }
    },
  };
}

/** Returns what a payload of such a target was made from. */
export function originOf(content: object | undefined): CustomOrigin {
  return (content as { readonly origin?: unknown } | undefined)?.origin as CustomOrigin;
}

/** Creates the response that a scenario's functions get. It stays valid: the run does not reuse its memory. */
function createResponse(parts: readonly Uint8Array[]): CustomResponse {
  const [first = new Uint8Array(0)] = parts;
  const bytes = parts.length > 1 ? joinBytes([...parts]) : first;
  const text = (): string => decoder.decode(bytes);
  return { bytes, parts, text, json: () => JSON.parse(text()) as unknown };
}

/** Returns a value that threads can send and reports can write: a number, a boolean, a text, null, or plain lists and objects of them. */
function toPlainValue(value: unknown): unknown {
  switch (typeof value) {
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case "symbol":
    case "function":
      return String(value);
    case "object":
      return value === null ? null : copyPlain(value);
    default:
      return value;
  }
}

function copyPlain(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch (error) {
    throw new TypeError(`it returned a value that is not JSON: ${findUnreadable(value) ?? messageOf(error)}`);
  }
}

function refusePromise<T>(value: T): T {
  if (value instanceof Promise) {
    value.catch(() => {});
    throw new TypeError("it returned a promise, but it must not be asynchronous");
  }
  return value;
}
