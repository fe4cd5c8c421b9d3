import { Call, Constant, fieldsOf, isFields, type Source } from "./source.ts";

type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Returns the value of the expression in the loaded scenario. */
export function evaluate(source: Source): unknown {
  if (source instanceof Constant) return evaluate(source.value);
  if (source instanceof Call) return evaluateCall(source);
  if (Array.isArray(source)) return (source as readonly Source[]).map(evaluate);
  if (isFields(source)) return Object.fromEntries(fieldsOf(source).map(([name, value]) => [name, evaluate(value)]));
  return source;
}

function evaluateCall({ builder, args, methods }: Call): unknown {
  const [build] = Object.values(builder) as AnyFunction[];
  let value = build?.(...args.map(evaluate));
  for (const [method, methodArgs] of methods)
    value = (value as Readonly<Record<string, AnyFunction>>)[method]?.(...methodArgs.map(evaluate));
  return value;
}
