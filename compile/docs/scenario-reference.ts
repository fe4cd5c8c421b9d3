import { FLAGS as AGENT_FLAGS } from "../../src/cli/agent.ts";
import { flagsOf } from "../../src/cli/by-url/command.ts";
import { FLAGS as CHAT_FLAGS } from "../../src/cli/chat/command.ts";
import { FLAGS as CHECK_FLAGS } from "../../src/cli/check/command.ts";
import { FLAGS as COMPARE_FLAGS } from "../../src/cli/compare/command.ts";
import { FLAGS as DOCTOR_FLAGS } from "../../src/cli/doctor/command.ts";
import type { Flag } from "../../src/cli/flags.ts";
import { FLAGS as HTTP_FLAGS } from "../../src/cli/http/command.ts";
import { FLAGS as INIT_FLAGS } from "../../src/cli/init.ts";
import { OWN_FLAGS as MANIFEST_FLAGS } from "../../src/cli/k8s/manifest.ts";
import { FLAGS as MOCK_FLAGS } from "../../src/cli/mock.ts";
import { FLAGS as REPORT_COMMAND_FLAGS } from "../../src/cli/report.ts";
import { FLAGS as RUN_FLAGS } from "../../src/cli/run.ts";
import { FLAGS as TYPES_FLAGS } from "../../src/cli/types/command.ts";
import * as api from "../../src/index.ts";
import { LIMIT_NAMES } from "../../src/measure/good-requests.ts";
import { findEntry, METRIC_KEYS } from "../../src/measure/metrics/catalogue.ts";
import type { Metric } from "../../src/measure/metrics/metric.ts";
import { AB_FORM } from "../../src/scenario/definition/ab.ts";
import { PER_TARGET_FORM } from "../../src/scenario/definition/per-target.ts";
import { codeNameOf } from "../../src/scenario/form.ts";
import { inputForms } from "../../src/scenario/inputs.ts";
import { loadForms } from "../../src/scenario/loads/table.ts";
import { PARAMETER_KINDS } from "../../src/scenario/params/kinds.ts";
import { targetForms } from "../../src/scenario/targets/table.ts";
import { LLM_ENDPOINTS } from "../../src/service/openai/endpoints.ts";
import { listOwnOptions } from "./option-lists.ts";
import { type Field, ScenarioTypes } from "./scenario-types.ts";
import { formatTable } from "./table.ts";

/** The reference of scenarios, made from the types of the scenario API and the option tables of Rampart's own commands. */

/** A kind of functions of the scenario API, with its page of the reference. */
interface Chapter {
  readonly title: string;
  /** The functions, in the order of their tables. */
  readonly names: (types: ScenarioTypes) => readonly string[];
  /** Objects among their options, and what functions of a scenario receive. */
  readonly objects?: readonly (readonly [title: string, type: string])[];
}

const CHAPTERS = {
  targets: {
    title: "Targets",
    names: () => [...targetForms().map(([, form]) => form.name), AB_FORM.name],
    objects: [
      ["A value of `extract` with its unit", "ExtractedValue"],
      ["`tls` of a target", "TlsOptions"],
      ["Second argument of a target made by `defineTarget`", "CustomTargetOptions"],
    ],
  },
  loads: { title: "Loads", names: () => [...loadForms().map(({ form }) => form.name), PER_TARGET_FORM.name] },
  inputs: {
    title: "Inputs",
    names: () => inputForms().map(({ form }) => codeNameOf(form)),
    objects: [
      ["`images` of `input.prompts`", "ImageOptions"],
      ["`audio` of `input.prompts`", "AudioOptions"],
      ["A call of `input.chain`", "ChainCall"],
    ],
  },
  parameters: { title: "Parameters", names: () => Object.values(PARAMETER_KINDS).map(({ form }) => codeNameOf(form)) },
  assertions: {
    title: "Assertions",
    names: (types) => types.functionsIn("src/scenario/assertions.ts").filter((name) => name in api),
  },
} satisfies Record<string, Chapter>;

/** Fields of a scenario that are objects, and what its functions receive. */
const OBJECTS: readonly (readonly [title: string, type: string])[] = [
  ["`repeat`", "RepeatOptions"],
  ["`stability`", "StabilityOptions"],
  ["`serverTrace`", "ServerTraceOptions"],
  ["`sequences`", "SequenceOptions"],
  ["`metrics`", "MetricsOptions"],
  ["`capacity`", "CapacityOptions"],
  ["A metric of `derive`", "DerivedMetric"],
  ["`cancel`", "CancelOptions"],
  ["Options of `start`", "StartOptions"],
  ["Input of a function for `tags`", "TaggedInput"],
];

const COMMANDS: readonly (readonly [name: string, flags: readonly Flag[]])[] = [
  ["run", RUN_FLAGS],
  ["check", CHECK_FLAGS],
  ["types", TYPES_FLAGS],
  ["http", HTTP_FLAGS],
  ["llm", flagsOf("llm")],
  ["triton", flagsOf("triton")],
  ["chat", CHAT_FLAGS],
  ["report", REPORT_COMMAND_FLAGS],
  ["compare", COMPARE_FLAGS],
  ["doctor", DOCTOR_FLAGS],
  ["init", INIT_FLAGS],
  ["mock", MOCK_FLAGS],
  ["agent", AGENT_FLAGS],
  ["k8s manifest", MANIFEST_FLAGS],
];

let readTypes: ScenarioTypes | undefined;

/** Reads the types once: it takes seconds. */
function getTypes(): ScenarioTypes {
  readTypes ??= new ScenarioTypes();
  return readTypes;
}

/** The fields of a scenario, as Markdown. */
export function formatFieldsOfScenario(): string {
  const types = getTypes();
  return [
    `## \`defineScenario\`\n\n${types.docOf("ScenarioDefinition")}\n\n${formatFields([...types.fieldsOf("ScenarioDefinition"), ...types.fieldsOf("ScenarioExtras")])}`,
    ...OBJECTS.map(([title, type]) => formatOptions(types, title, [type])),
    `## Values\n\n${formatValues(types)}`,
  ].join("\n\n");
}

/** The functions of one kind with their options, as Markdown. */
export function formatChapter(name: keyof typeof CHAPTERS): string {
  const types = getTypes();
  const { title, names: list, objects = [] }: Chapter = CHAPTERS[name];
  const names = list(types);
  return [
    `## ${title}\n\n${formatBuilders(types, names)}`,
    ...groupByOptions(types, names).map(([options, users]) =>
      formatOptions(types, `Options of ${users.join(", ")}`, options),
    ),
    ...objects.map(([heading, type]) => formatOptions(types, heading, [type])),
  ].join("\n\n");
}

/** The functions of assertions and all metrics, as Markdown. */
export function formatAssertions(): string {
  return `${formatChapter("assertions")}\n\n## Metrics\n\n${formatMetrics()}`;
}

/** The options of Rampart's own commands, as Markdown. */
export function formatCommands(): string {
  return COMMANDS.map(([name, flags]) => listOwnOptions(name, flags)).join("\n\n");
}

function formatOptions(types: ScenarioTypes, title: string, names: readonly string[]): string {
  return [
    `## ${title}`,
    names.length > 1 ? "" : describeType(types, names[0] ?? ""),
    formatFields(types.fieldsOf(...names)),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Returns the name of a function without the object of the API that has it. */
function functionOf(name: string): string {
  return name.split(".").at(-1) as string;
}

function formatBuilders(types: ScenarioTypes, names: readonly string[]): string {
  const rows = names.map((name) => {
    const own = functionOf(name);
    return [`\`${name}(${types.paramsOf(own).join(", ")})\``, types.docOf(own)];
  });
  return formatTable(["function", "meaning"], rows);
}

/** What its doc comment says beyond whose options they are. */
function describeType(types: ScenarioTypes, name: string): string {
  const text = types
    .docOf(name)
    .replace(/^(What `defineScenario` takes|Options of (`\w+`( and )?)+)(, for [^.]*)?[.:]\s*/, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Options types with the functions that take them. */
function groupByOptions(
  types: ScenarioTypes,
  builders: readonly string[],
): [types: readonly string[], users: string[]][] {
  const groups = new Map<string, [readonly string[], string[]]>();
  for (const name of builders) {
    const taken = types.optionTypesOf(functionOf(name));
    if (taken.length === 0) continue;
    const group = groups.get(taken.join()) ?? [taken, []];
    group[1].push(`\`${name}\``);
    groups.set(taken.join(), group);
  }
  return [...groups.values()];
}

/** Fields that are required come first. A default stands at the end of a doc comment. */
function formatFields(fields: readonly Field[]): string {
  const sorted = fields.toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional));
  const rows = sorted.map(({ name, type, isOptional, doc }) => {
    const [, meaning = doc, preset = ""] = /^(.*?)\s*Default: (.*?)\.?$/.exec(doc) ?? [];
    return [`\`${name}\``, `\`${type}\``, isOptional ? preset : "required", meaning];
  });
  return formatTable(["field", "takes", "default", "meaning"], rows);
}

const NEEDED: Readonly<Record<NonNullable<Metric["needs"]>, string>> = {
  schedule: "loads with a schedule",
  responses: "models with several responses",
  tokens: "text",
  streams: "streams of text",
  statistics: "servers with their own times, such as Triton",
  gauges: "`metrics` of the scenario",
};

/** The metrics that assertions name. */
function formatMetrics(): string {
  const rows = METRIC_KEYS.flatMap((key) => {
    const { label, quantity, unit, statistics, needs, isOfReports } = findEntry(key) as Metric;
    if (isOfReports === true) return [];
    const limit = { time: "duration", ratio: "percentage", rate: "number", count: "number", number: "number" }[
      quantity
    ];
    return [
      [
        `\`"${key}"\``,
        label,
        unit === undefined ? limit : `${limit} (${unit})`,
        statistics?.join(", ") ?? "",
        needs === undefined ? "" : NEEDED[needs],
        LIMIT_NAMES.includes(key) ? (quantity === "time" ? "at most" : "at least") : "",
      ],
    ];
  });
  return formatTable(["metric", "meaning", "limit", "statistics", "exists for", "in `goodput`"], rows);
}

function formatValues(types: ScenarioTypes): string {
  const rows = ["Duration", "Length", "MockLatency", "RequestParameter"].map((name) => [
    `\`${name}\``,
    types.docOf(name),
  ]);
  const endpoints = Object.keys(LLM_ENDPOINTS).map((name) => `\`"${name}"\``);
  return formatTable(["type", "meaning"], [...rows, ["`LlmEndpointName`", `One of ${endpoints.join(", ")}.`]]);
}
