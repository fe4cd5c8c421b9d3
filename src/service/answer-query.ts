import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath";
import { messageOf, userError } from "../plan/problem.ts";
import { showValue } from "../plan/show-value.ts";

/** A JMESPath expression (jmespath.org) about a response. */
export class AnswerQuery {
  readonly expression: string;
  private readonly compiled: ReturnType<typeof compile>;

  /** @param path the setting, for errors @throws UserError when it is not JMESPath */
  constructor(expression: string, path: string) {
    this.expression = expression;
    try {
      this.compiled = compile(expression);
    } catch (error) {
      const hint = "Write for example ok, outputs[0].score > `0.5` or status == 'done'; see jmespath.org.";
      throw userError("invalid-value", path, `is not JMESPath: ${messageOf(error)}`, hint, expression);
    }
  }

  /** Returns the value in a response: null when there is none. @throws Error when the expression does not fit it */
  find(answer: unknown): unknown {
    return TreeInterpreter.search(this.compiled, answer as JSONValue);
  }

  /** Returns why the expression is not true for a response; undefined when it is true. */
  explainFalse(answer: unknown): string | undefined {
    let found: unknown;
    try {
      found = this.find(answer);
    } catch (error) {
      return `${this.expression} cannot be evaluated for the response: ${messageOf(error)}`;
    }
    return found === true ? undefined : `${this.expression} is not true for the response, it is ${showValue(found)}`;
  }
}
