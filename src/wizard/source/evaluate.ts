import { errorRate, max, mean, metric, min, p99, percentile } from "../../scenario/assertions.ts";
import { input } from "../../scenario/inputs.ts";
import { findMax } from "../../scenario/loads/find-max.ts";
import { hold, ramp, steps } from "../../scenario/loads/levels.ts";
import { soak, spike } from "../../scenario/loads/phases.ts";
import { intervals, rate, rateRamp, rateSteps } from "../../scenario/loads/rates.ts";
import { fixedSchedule } from "../../scenario/loads/schedules.ts";
import { sessions } from "../../scenario/loads/sessions.ts";
import { mix } from "../../scenario/mix.ts";
import { embedded } from "../../scenario/targets/embedded.ts";
import { grpc } from "../../scenario/targets/grpc.ts";
import { http } from "../../scenario/targets/http.ts";
import { openai } from "../../scenario/targets/llm.ts";
import { tfserving } from "../../scenario/targets/tfserving.ts";
import { torchserve } from "../../scenario/targets/torchserve.ts";
import { triton } from "../../scenario/targets/triton.ts";
import { tritonInProcess } from "../../scenario/targets/triton-in-process.ts";
import { Call, Constant, fieldsOf, isFields, type Source } from "./source.ts";

type AnyFunction = (...args: readonly unknown[]) => unknown;

/** The builders that the wizard uses, by their names in `"rampart"`. */
const BUILDERS: Readonly<Record<string, AnyFunction | object>> = {
  embedded,
  errorRate,
  findMax,
  fixedSchedule,
  grpc,
  hold,
  http,
  input,
  intervals,
  max,
  mean,
  metric,
  min,
  mix,
  openai,
  p99,
  percentile,
  ramp,
  rate,
  rateRamp,
  rateSteps,
  sessions,
  soak,
  spike,
  steps,
  tfserving,
  torchserve,
  triton,
  tritonInProcess,
};

/** Returns the value that the expression has when the written scenario is loaded. */
export function evaluate(source: Source): unknown {
  if (source instanceof Constant) return evaluate(source.value);
  if (source instanceof Call) return evaluateCall(source);
  if (Array.isArray(source)) return (source as readonly Source[]).map(evaluate);
  if (isFields(source)) return Object.fromEntries(fieldsOf(source).map(([name, value]) => [name, evaluate(value)]));
  return source;
}

function evaluateCall({ name, args, methods }: Call): unknown {
  const [first = "", member] = name.split(".");
  const found = BUILDERS[first];
  const build = (member === undefined ? found : (found as Readonly<Record<string, unknown>>)[member]) as
    | AnyFunction
    | undefined;
  if (build === undefined) throw new Error(`the wizard knows no builder ${name}`);
  let value = build(...args.map(evaluate));
  for (const [method, methodArgs] of methods)
    value = (value as Readonly<Record<string, AnyFunction>>)[method]?.(...methodArgs.map(evaluate));
  return value;
}
