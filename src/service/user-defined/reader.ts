import { heldFunction } from "../../plan/functions.ts";
import { messageOf } from "../../plan/problem.ts";
import type { AnswerReader } from "../answer-reader.ts";
import { joinBytes } from "../tensor.ts";
import type { OwnOrigin } from "./encode.ts";
import type { CheckOutput, DecodeAnswer, ExtractValue, OwnAnswer } from "./functions.ts";
import type { OwnTargetPlan } from "./target.ts";
import { describeUserError, findUnreadable } from "./user-error.ts";

const decoder = new TextDecoder();

/** Creates the reader of a target's answers; undefined when neither `check` nor `extract` needs their content. */
export function createOwnReader(target: OwnTargetPlan): AnswerReader | undefined {
  const { extract = {} } = target;
  if (target.check === undefined && Object.keys(extract).length === 0) return undefined;
  const decode = target.decode && heldFunction<DecodeAnswer<unknown>>(target.decode);
  const check = target.check && heldFunction<CheckOutput<unknown, unknown>>(target.check);
  const values = Object.entries(extract).map(([name, plan]) => ({
    name,
    find: heldFunction<ExtractValue<unknown, unknown>>(plan),
  }));
  return {
    names: Object.keys(extract),
    read: (bodies, content) => {
      const { input } = originOf(content);
      let stage = "decode";
      try {
        const answer = createAnswer(bodies);
        const output = decode === undefined ? answer : refusePromise(decode(answer));
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
export function originOf(content: object | undefined): OwnOrigin {
  return (content as { readonly origin?: unknown } | undefined)?.origin as OwnOrigin;
}

/** Creates the answer that a scenario's functions get. It stays valid: the run does not reuse its memory. */
function createAnswer(parts: readonly Uint8Array[]): OwnAnswer {
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
