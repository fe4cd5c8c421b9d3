import type { RuleSet } from "./rules/rule-set.ts";

/** GenAI-Perf's named templates. */
export const NAMED_TEMPLATES: Readonly<Record<string, string>> = {
  "nv-embedqa": '[{% for item in texts %}{"text": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}{% endfor %}]',
};

/** Fields of `--extra-inputs` that the endpoint type `template` uses, like in GenAI-Perf and AIPerf. */
export interface TemplateOptions {
  /** A name, a file's path, or the template's text. */
  readonly template: string | undefined;
  /** Path of the text in responses. */
  readonly responseField: string | undefined;
  /** Fields to add to every body. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Splits the extra inputs. */
export function readTemplateOptions(extra: Readonly<Record<string, unknown>> | null): TemplateOptions {
  const { payload_template: template, response_field: responseField, ...others } = extra ?? {};
  const textOf = (value: unknown): string | undefined =>
    value === undefined || value === null || value === "" ? undefined : String(value);
  return { template: textOf(template), responseField: textOf(responseField), others };
}

/** Checks the requirements of the endpoint type `template`. */
export function checkTemplate(rules: RuleSet): void {
  if (!rules.type.usesTemplate) return;
  const extra = rules.get("input.extra");
  const message = "--endpoint: the endpoint type template has no path of its own";
  rules.refuse(
    rules.get("endpoint.custom") === "",
    "endpoint.custom",
    message,
    "Say where to post, for example --endpoint v1/embed.",
  );
  const keys = Object.keys(extra ?? {}).map((key) => `'${key}'`);
  rules.refuse(
    readTemplateOptions(extra).template === undefined,
    "input.extra",
    `The template converter requires the extra input payload_template, only detected the following --extra-inputs: [${keys.join(", ")}].`,
    "Add --extra-inputs payload_template:FILE.",
  );
}
