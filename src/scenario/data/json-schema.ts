import { type ConversionConfig, type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { METRIC_PATTERN } from "../../measure/metrics/metric-names.ts";
import { isObject } from "../../plan/objects.ts";
import { DURATION_PATTERN, PERCENT_PATTERN } from "../../plan/units.ts";
import { definitionSchema } from "../definition/definition-schema.ts";
import { DURATION_RULE, PERCENT_RULE } from "../fields.ts";
import type { PartKind } from "../form.ts";
import { targetSchema } from "../targets/table.ts";
import { MEMBER_PARTS, memberSchema } from "../targets/target-builder.ts";
import { METRIC_WORDS, OPERATORS } from "./assertion-text.ts";
import { type Entry, type Family, inputFamily, loadFamily, parameterFamily, targetFamily } from "./families.ts";
import { FIELD_PARTS } from "./load-data.ts";

/** The JSON Schema (draft 2020-12) of scenarios in YAML and JSON, made from the schemas and tables that check them. */

/** Version of the schema's format, in its `$id`. */
const ID = "https://rampart.invalid/schema/scenario-1.json";
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * Texts from doc comments: of builders by their name, and of options by `builder.option`. The builder of top-level fields is
 * `scenario`.
 */
export type Descriptions = Readonly<Record<string, string>>;

type Schemas = Record<string, JsonSchema>;

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });

/** Schema of each kind of part. In a steady load, a number means hold(…). */
const PARTS: Readonly<Record<PartKind, JsonSchema>> = {
  target: ref("target"),
  load: ref("load"),
  loads: { anyOf: [ref("load"), { type: "array", items: ref("load"), minItems: 1 }] },
  "loads-by-name": { type: "object", additionalProperties: ref("load"), minProperties: 1 },
  "steady-load": { anyOf: [{ type: "integer", minimum: 1 }, ref("load"), ref("reference")] },
  inputs: ref("inputs"),
  assertions: { type: "array", items: ref("assertion") },
  limits: { anyOf: [ref("assertion"), { type: "array", items: ref("assertion"), minItems: 1 }] },
  members: { type: "array", items: ref("member"), minItems: 2 },
  body: {},
};

/** Fields that can be given only in code. */
const CODE_FIELDS: ReadonlySet<string> = new Set(["check", "onRecord"]);

/** Creates the schema. @param descriptions texts for editors; default: none */
export function scenarioJsonSchema(descriptions: Descriptions = {}): JsonSchema {
  const describe = (schema: JsonSchema, name: string): JsonSchema => {
    const description = descriptions[name];
    return description === undefined ? schema : { ...schema, description };
  };
  const whole = objectSchema(definitionSchema(), FIELD_PARTS);
  const described = Object.entries(whole.properties as Schemas)
    .filter(([name]) => !CODE_FIELDS.has(name))
    .map(([name, schema]) => [name, describe(schema, `scenario.${name}`)] as const);
  const fields: Schemas = Object.fromEntries(described);
  fields["params"] = describe({ type: "object", additionalProperties: ref("parameter") }, "scenario.params");
  return {
    $schema: DIALECT,
    $id: ID,
    title: "Rampart scenario",
    type: "object",
    properties: { $schema: { type: "string" }, ...fields },
    required: whole.required,
    additionalProperties: false,
    $defs: {
      target: familySchema(targetFamily(), describe),
      load: familySchema(loadFamily(), describe),
      inputs: familySchema(inputFamily(), describe),
      parameter: familySchema(parameterFamily(), describe),
      member: objectSchema(memberSchema(targetSchema()), MEMBER_PARTS),
      assertion: assertionJsonSchema(),
      reference: {
        type: "string",
        pattern: "^\\$\\{[A-Za-z][A-Za-z0-9_]*\\}$",
        description: "The value of a parameter.",
      },
    },
  } as JsonSchema;
}

type Describe = (schema: JsonSchema, name: string) => JsonSchema;

/** Returns the schema of a family: `name` alone, or an object with the name as its only key. */
function familySchema({ entries, noun }: Family, describe: Describe): JsonSchema {
  const properties: Schemas = {};
  const alone: string[] = [];
  for (const [name, entry] of entries) {
    const { schema, isOptional } = bodySchema(entry, describe);
    properties[name] = describe(schema, name);
    if (isOptional) alone.push(name);
  }
  const call: JsonSchema = {
    type: "object",
    properties,
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
  };
  const names: JsonSchema[] = alone.length === 0 ? [] : [{ type: "string", enum: alone }];
  return { title: noun, anyOf: [...names, call] };
}

/** Returns the schema of the value after a builder's name, and whether the value may be missing. */
function bodySchema({ form, options, values }: Entry, describe: Describe): { schema: JsonSchema; isOptional: boolean } {
  const { args = [], parts = {}, codeOnly = [], isArgOptional, takes } = form;
  const [only = ""] = args;
  if (takes === "by-name") return { schema: PARTS[parts[only] as PartKind], isOptional: false };
  const given = options === undefined ? {} : convert(options);
  const fields: Schemas = {};
  for (const [index, name] of args.entries()) fields[name] = argumentSchema(values, index, form.takes);
  for (const [name, schema] of Object.entries((given.properties ?? {}) as Schemas))
    if (!codeOnly.includes(name)) fields[name] = withReferences(schema);
  for (const [name, part] of Object.entries(parts)) fields[name] = PARTS[part];
  const described = Object.entries(fields).map(([name, schema]) => [name, describe(schema, `${form.name}.${name}`)]);
  const required = [...(isArgOptional === true ? [] : args), ...(given.required ?? [])];
  const object: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(described) as Schemas,
    required,
    additionalProperties: false,
  };
  const first = args[0] ?? form.alone;
  const isOptional = required.length === 0;
  const canBeAlone = first !== undefined && required.every((name) => name === first);
  const forms = [
    object,
    ...(canBeAlone ? [fields[first] as JsonSchema] : []),
    ...(isOptional ? [{ type: "null" } as JsonSchema] : []),
  ];
  return { schema: forms.length === 1 ? object : { anyOf: forms }, isOptional };
}

function argumentSchema(values: v.GenericSchema | undefined, index: number, takes: Entry["form"]["takes"]): JsonSchema {
  if (values === undefined) return {};
  const { item, items } = values as {
    readonly item?: v.GenericSchema;
    readonly items?: readonly v.GenericSchema[];
  };
  const one = withReferences(convert((item ?? items?.[index]) as v.GenericSchema));
  const list: JsonSchema = { type: "array", items: one, minItems: 1 };
  if (takes === "list") return list;
  return takes === "one-or-list" ? { anyOf: [one, list] } : one;
}

function assertionJsonSchema(): JsonSchema {
  const operators = Object.keys(OPERATORS).join("|");
  const limit: JsonSchema = { type: ["number", "string"] } as JsonSchema;
  const comparisons = Object.fromEntries(Object.values(OPERATORS).map((name) => [name, limit]));
  const others: JsonSchema = { type: ["string", "object", "null"] } as JsonSchema;
  const metrics = Object.fromEntries(
    ["p50", "p90", "p95", "p99", "p99.9", ...METRIC_WORDS].map((name) => [name, others]),
  );
  return {
    title: "an assertion",
    anyOf: [
      {
        type: "string",
        pattern: `^\\s*${METRIC_PATTERN}\\s*(?:${operators})\\s*\\S`,
        description: "METRIC(OF) OPERATOR LIMIT [where TAG=VALUE, …] [abortAfter DURATION]: p99(latency) < 25 ms",
      },
      {
        type: "object",
        properties: { ...metrics, ...comparisons, where: { type: "object" }, abortAfter: durationJsonSchema() },
        patternProperties: { [`^${METRIC_PATTERN}$`]: others },
        additionalProperties: false,
        anyOf: Object.values(OPERATORS).map((name) => ({ required: [name] })),
        minProperties: 2,
      },
    ],
  };
}

function durationJsonSchema(): JsonSchema {
  return {
    type: "string",
    pattern: `${DURATION_PATTERN}|\\$\\{`,
    description: `It ${DURATION_RULE}.`,
  };
}

function percentJsonSchema(): JsonSchema {
  const text: JsonSchema = {
    type: "string",
    pattern: `${PERCENT_PATTERN}|\\$\\{`,
    description: `It ${PERCENT_RULE}.`,
  };
  return { anyOf: [text, { const: 0 }] };
}

const CONFIG: ConversionConfig = {
  target: "draft-2020-12",
  errorMode: "ignore",
  typeMode: "input",
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    if (valibotSchema.type === "custom") {
      const { message } = valibotSchema as { readonly message?: unknown };
      if (message === DURATION_RULE) return durationJsonSchema();
      if (message === PERCENT_RULE) return percentJsonSchema();
      return typeof message === "string" ? { description: `It ${message}.` } : {};
    }
    if (valibotSchema.type === "lazy")
      return convert((valibotSchema as v.LazySchema<v.GenericSchema>).getter(undefined));
    return jsonSchema;
  },
};

/** Converts the schema of an object. @param parts fields that are made by other builders */
function objectSchema(schema: v.GenericSchema, parts: Readonly<Partial<Record<string, PartKind>>>): JsonSchema {
  const { properties = {}, required = [] } = convert(schema);
  const fields = Object.entries(properties as Schemas).map(([name, given]) => {
    const part = parts[name];
    return [name, part === undefined ? withReferences(given) : PARTS[part]] as const;
  });
  return { type: "object", properties: Object.fromEntries(fields), required, additionalProperties: false };
}

/** Converts a schema of valibot. Rules that only code can check are left out. */
function convert(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, $defs: _defs, ...json } = toJsonSchema(schema, CONFIG);
  return json;
}

/** Adds references to parameters to a schema for anything but text. */
function withReferences(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties } = schema;
  const inner: JsonSchema = {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapValues(properties as Schemas, withReferences) }),
    ...(isObject(items) ? { items: withReferences(items) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: (anyOf as JsonSchema[]).map(withReferences) }),
    ...(isObject(additionalProperties) ? { additionalProperties: withReferences(additionalProperties) } : {}),
  };
  const isText = schema.type === "string" && schema.enum === undefined && schema.pattern === undefined;
  const isOpen = schema.type === undefined && schema.enum === undefined && schema.const === undefined;
  const isReady = isText || isOpen || schema.type === "object" || schema.type === "array";
  return isReady ? inner : { anyOf: [inner, ref("reference")] };
}

function mapValues(schemas: Schemas, change: (schema: JsonSchema) => JsonSchema): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));
}
