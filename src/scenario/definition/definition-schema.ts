import * as v from "valibot";
import { MOST_RESPONSE_BYTES } from "../../plan/defaults.ts";
import type { PlannedFunction } from "../../plan/functions.ts";
import { numberHint } from "../../plan/nearest-name.ts";
import { addressSchema, clientsOf, MOST_WORKERS } from "../../plan/plan.ts";
import {
  atLeast,
  IN_BRACKETS,
  integerSchema,
  isWhole,
  listSchema,
  numberSchema,
  type OutputOf,
  type Schema,
  wholeSchema,
  withHint,
} from "../../plan/schema.ts";
import { percentileSchema } from "../../registry/metric-schema.ts";
import { parseMetricsUrl } from "../../telemetry/metrics-url.ts";
import { assertionHint, assertionSchema, isAssertion } from "../assertion-schema.ts";
import { cancelSchema } from "../cancel.ts";
import { countSchema, nameSchema, percentSchema, shareSchema, spanSchema, strictOptions } from "../fields.ts";
import { inputsSchema } from "../inputs.ts";
import { loadsSchema } from "../loads/table.ts";
import { repeatSchema } from "../repeat.ts";
import { sequenceOptionsSchema } from "../sequences.ts";
import { tagOptionsSchema } from "../tags.ts";
import { targetSchema } from "../targets/table.ts";
import { capacitySchema } from "./capacity.ts";
import { deriveSchema } from "./derive.ts";

/** Name of a scenario without a file. */
const UNNAMED = "scenario";

/** A validated definition of a scenario. */
export type DefinitionData = OutputOf<typeof definitionSchema>;

/** Returns the schema of a scenario's definition. */
export function definitionSchema() {
  const whole = wholeSchema(0);
  return strictOptions({
    name: v.optional(nameSchema("a name"), UNNAMED),
    target: targetSchema(),
    load: loadsSchema(),
    inputs: v.optional(inputsSchema()),
    assert: v.optional(assertionsSchema()),
    repeat: v.optional(repeatSchema()),
    seed: v.optional(integerSchema()),
    tags: v.optional(tagOptionsSchema()),
    check: v.optional(functionField()),
    onRecord: v.optional(functionField()),
    warmupRequests: v.optional(whole),
    warmupFor: v.optional(spanSchema()),
    cancel: v.optional(cancelSchema()),
    stability: v.optional(
      strictOptions({
        window: v.optional(spanSchema()),
        requests: v.optional(countSchema()),
        within: v.optional(percentSchema()),
        trials: v.optional(v.pipe(countSchema(), atLeast(3))),
        percentile: v.optional(percentileSchema()),
      }),
    ),
    metrics: v.optional(
      strictOptions({
        url: v.optional(
          v.pipe(
            v.string("must be text"),
            v.check((url) => parseMetricsUrl(url) !== undefined, 'must be a URL such as "localhost:8002/metrics"'),
          ),
        ),
        every: v.optional(spanSchema()),
      }),
    ),
    serverTrace: v.optional(
      strictOptions({
        file: v.optional(nameSchema("a path on the server")),
        levels: v.optional(
          v.pipe(
            listSchema(v.picklist(["OFF", "TIMESTAMPS", "TENSORS"], "must be OFF, TIMESTAMPS or TENSORS"), "levels"),
            v.nonEmpty("must have a level"),
          ),
        ),
        oneIn: v.optional(whole),
        count: v.optional(v.pipe(numberSchema(), isWhole(), v.minValue(-1, "must be -1 (no limit) or more"))),
        logFrequency: v.optional(whole),
      }),
    ),
    latencyLimit: v.optional(spanSchema()),
    capacity: v.optional(capacitySchema()),
    derive: v.optional(deriveSchema()),
    sequences: v.optional(sequenceOptionsSchema()),
    maxErrorRate: v.optional(shareSchema()),
    client: v.optional(v.picklist(clientsOf(), 'must be "own", "undici" or "grpc-js"')),
    stallTimeout: v.optional(spanSchema()),
    timeout: v.optional(spanSchema()),
    maxResponseBytes: v.optional(
      v.pipe(countSchema(), v.maxValue(MOST_RESPONSE_BYTES, `must be ${MOST_RESPONSE_BYTES} or less`)),
    ),
    maxInFlight: v.optional(countSchema()),
    sourceAddresses: v.optional(v.pipe(listSchema(addressSchema(), "addresses"), v.nonEmpty("must have an address"))),
    workers: v.optional(
      withHint(
        v.union(
          [v.literal("auto"), v.pipe(countSchema(), v.maxValue(MOST_WORKERS, `must be ${MOST_WORKERS} or less`))],
          `must be a whole number from 1 to ${MOST_WORKERS}, or "auto"`,
        ),
        numberHint,
      ),
    ),
  });
}

/**
 * Returns the schema of assertions. It reports a single assertion without brackets around it, and values that are not
 * written as assertions.
 */
function assertionsSchema() {
  return withHint(v.array(assertionSchema(), "must be a list of assertions"), (given) =>
    isAssertion(given) ? IN_BRACKETS : assertionHint(given),
  );
}

function functionField(): Schema<PlannedFunction> {
  return v.custom<PlannedFunction>((input) => typeof input === "function", "must be a function");
}
