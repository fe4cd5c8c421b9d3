import { type Duration, parseDurationNs } from "../plan/units.ts";
import { errorRate, p99 } from "../scenario/assertions.ts";
import { defineScenario, type Scenario, type ScenarioDefinition } from "../scenario/define.ts";
import type { Extent } from "../scenario/definition/load-options.ts";
import { hold, type Load, ramp, rate } from "../scenario/loads.ts";
import type { Answers } from "./answers.ts";
import { scenarioName } from "./questions.ts";
import { WIZARD_TARGETS, type WizardTarget, wizardTargetOf } from "./targets.ts";

/** Converts complete answers to the scenario that the text of {@link formatScenario} defines. */
export function toScenario(answers: Answers): Scenario {
  const limit = answers["p99-limit"];
  const target = chosen(answers);
  return defineScenario({
    name: scenarioName(answers),
    target: target.toTarget(answers),
    load: toLoad(answers),
    ...(target.inputs?.options === undefined ? {} : { inputs: target.inputs.make(answers) }),
    assert: [
      ...(limit === undefined || limit === "none" ? [] : [p99("latency").below(toDuration(limit))]),
      errorRate().is(0),
    ],
  });
}

function chosen(answers: Answers): WizardTarget {
  return wizardTargetOf(answers) ?? (WIZARD_TARGETS["triton"] as WizardTarget);
}

function toLoad({ load, levels = "", for: time }: Answers): Load {
  const extent: Extent = time === undefined || time === "stable" ? {} : { for: toDuration(time) };
  const [start = 1, end = 1, step] = levels.split(":").map(Number);
  if (load === "hold") return hold(start, extent);
  if (load === "rate") return rate(start, extent);
  return ramp(start, end, step === undefined ? extent : { step, ...extent });
}

/** Normalizes a duration to one space before the unit. */
function toDuration(text: string): Duration {
  const match = /^\s*([\d.]+)\s*(\S+)\s*$/.exec(text);
  if (match === null || parseDurationNs(text) === undefined) throw new Error(`not a duration: ${text}`);
  return `${match[1]} ${match[2] === "µs" ? "us" : match[2]}` as Duration;
}

/** Returns the text of the scenario's file. */
export function formatScenario(answers: Answers): string {
  const definition = toScenario(answers).definition as ScenarioDefinition;
  const hasLimit = definition.assert?.length === 2;
  const { kind, url, options: targetOptions } = definition.target;
  const { inputs, builder = kind } = chosen(answers);
  const load = answers.load ?? "ramp";
  const names = [
    "defineScenario",
    builder,
    load,
    ...(inputs === undefined ? [] : [inputs.builder]),
    "errorRate",
    ...(hasLimit ? ["p99"] : []),
  ];
  const hasTargetOptions = url === "" || Object.keys(targetOptions).length > 0;
  const texts = [
    ...(url === "" ? [] : [JSON.stringify(url)]),
    ...(hasTargetOptions ? [formatLiteral(targetOptions)] : []),
  ];
  const target = `${builder}(${texts.join(", ")})`;
  const { values, options } = definition.load as Load;
  const hasOptions = Object.keys(options).length > 0;
  const loadText = `${load}(${values.join(", ")}${hasOptions ? `, ${formatLiteral(options)}` : ""})`;
  const limit = hasLimit ? `p99("latency").below(${JSON.stringify(definition.assert?.[0]?.limit)}), ` : "";
  return [
    "#!/usr/bin/env -S rampart run",
    `import { ${names.sort().join(", ")} } from "rampart";`,
    "",
    "export default defineScenario({",
    `  name: ${JSON.stringify(definition.name)},`,
    `  target: ${target},`,
    `  load: ${loadText},`,
    ...(inputs === undefined
      ? []
      : [
          `  inputs: ${inputs.builder}(${inputs.options === undefined ? "" : formatLiteral(inputs.options(answers))}),`,
        ]),
    `  assert: [${limit}errorRate().is(0)],`,
    "});",
    "",
  ].join("\n");
}

/** Formats plain data as a literal on one line: `{ protocol: "http", shapes: { IN: [1, 2] } }`. */
function formatLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, entry]) => `${formatKey(key)}: ${formatLiteral(entry)}`);
  return `{ ${fields.join(", ")} }`;
}

function formatKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
