import * as v from "valibot";
import { lazySchema, type Schema, withHint } from "../../plan/schema.ts";
import { type DataForm, listCalls } from "../form.ts";
import { createMixBuilder } from "../mix.ts";
import { customBuilder } from "./custom.ts";
import { embeddedBuilder } from "./embedded.ts";
import { grpcBuilder } from "./grpc.ts";
import { httpBuilder } from "./http.ts";
import { embeddedLlmBuilder, openAiBuilder } from "./llm.ts";
import type { AnyTarget, TargetBuilder } from "./target-builder.ts";
import { tfServingBuilder } from "./tfserving.ts";
import { torchServeBuilder } from "./torchserve.ts";
import { tritonBuilder } from "./triton.ts";
import { tritonInProcessBuilder } from "./triton-in-process.ts";

/** The builders of targets, by the `kind` of their results. To add a builder, add a file and a line here. */
const TARGET_BUILDERS = {
  triton: tritonBuilder,
  openai: openAiBuilder,
  torchserve: torchServeBuilder,
  grpc: grpcBuilder,
  "plain-http": httpBuilder,
  tfserving: tfServingBuilder,
  tritonInProcess: tritonInProcessBuilder,
  embedded: embeddedBuilder,
  "embedded-llm": embeddedLlmBuilder,
  "user-defined": customBuilder,
  mix: createMixBuilder(() => targetSchema({ isMember: true })),
};

const BUILDERS: Readonly<Record<string, TargetBuilder>> = TARGET_BUILDERS;

/** Returns the builder of a target. */
export function targetBuilderOf({ kind }: Pick<AnyTarget, "kind">): TargetBuilder {
  return BUILDERS[kind] as TargetBuilder;
}

/** Returns the forms of targets in data, by kind, each with the schema of the target. */
export function targetForms(): readonly (readonly [kind: string, form: DataForm, schema: Schema<AnyTarget>])[] {
  return Object.entries(BUILDERS).map(([kind, { form, schema }]) => [kind, form, schema()]);
}

function isAddress(given: unknown): given is string {
  return typeof given === "string" && /^(?:https?:\/\/)?[\w.-]+:\d+$/.test(given);
}

/**
 * Returns the schema of a scenario's target. @param options.isMember whether it is a member of a mix, and therefore cannot be a mix.
 * Default: false
 */
export function targetSchema({ isMember = false } = {}): Schema<AnyTarget> {
  const known = Object.entries(BUILDERS).filter(([, { members }]) => !isMember || members === undefined);
  const unknown = withHint(
    v.custom<AnyTarget>(() => false, `must be ${listCalls(known.map(([, builder]) => builder))}`),
    (given) =>
      Array.isArray(given)
        ? 'Write mix([{ name: "a", target: … }, { name: "b", target: … }]).'
        : `Write triton("${isAddress(given) ? given : "localhost:8000"}", { model: "NAME" }).`,
  );
  return lazySchema<AnyTarget>((input) => {
    const kind = (input as { readonly kind?: unknown } | null)?.kind;
    return known.find(([name]) => name === kind)?.[1].schema() ?? unknown;
  });
}
