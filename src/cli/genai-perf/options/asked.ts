import type { InputFormat } from "../../../inputs/prompts/settings.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { PlanValues } from "../../options/place.ts";
import type { Endpoint } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES, type EndpointType } from "../endpoints.ts";
import { type GenaiLoad, loadOf } from "../loads.ts";
import { type GenaiOption, valueNameOf } from "./genai-option.ts";
import type { PassedFlags } from "./passed-flags.ts";
import { sharedKeyOf } from "./shared.ts";
import { ALL_OPTIONS, DEFAULTS } from "./subcommands.ts";
import type { Subcommand, ValueSource } from "./values-builder.ts";

type Option = Extract<(typeof ALL_OPTIONS)[number], { readonly default: unknown }>;
type NameOf<O> = O extends { readonly key: infer Key extends string }
  ? Key
  : O extends { readonly names: readonly [infer Name extends string, ...unknown[]] }
    ? Name
    : never;

/** The values of options by name, as the option tables define them. Options shared with other commands are not typed. */
export type Values = { readonly [O in Option as NameOf<O>]: O["default"] };

/** The name of an option's value: its key in files, such as `input.audio.length.mean`, or its first flag. */
export type ValueName = keyof Values | `rampart.${string}`;

type LandingOption = GenaiOption & Required<Pick<GenaiOption, "land">>;

const OPTIONS: readonly GenaiOption[] = ALL_OPTIONS;
const LANDING = OPTIONS.filter((option): option is LandingOption => option.land !== undefined);

type Parts = Pick<Asked, "subcommand" | "passed" | "values" | "given"> & Partial<Pick<Asked, "planValues">>;

/** The request of a command: the values of its options, and which were given. `plan/` converts it to a plan. */
export class Asked {
  readonly subcommand: Subcommand;
  readonly passed: PassedFlags;
  readonly values: ReadonlyMap<string, unknown>;
  readonly given: ReadonlyMap<string, ValueSource>;
  /** Values of shared options for its plans. */
  readonly planValues: PlanValues;

  constructor({ subcommand, passed, values, given, planValues = new Map() }: Parts) {
    this.subcommand = subcommand;
    this.passed = passed;
    this.values = values;
    this.given = given;
    this.planValues = planValues;
  }

  /** Returns a copy with other values. */
  with(values: Partial<Values>, { subcommand, passed }: Pick<Asked, "subcommand" | "passed"> = this): Asked {
    return new Asked({ ...this, subcommand, passed, values: new Map([...this.values, ...Object.entries(values)]) });
  }

  /** Returns a copy with values for its plans. */
  withPlanValues(planValues: PlanValues): Asked {
    return new Asked({ ...this, planValues });
  }

  get<Name extends keyof Values>(name: Name): Values[Name] {
    return this.values.get(name) as Values[Name];
  }

  get type(): EndpointType {
    return ENDPOINT_TYPES[this.get("endpoint.type")];
  }

  /** Settings that determine the format of bodies and responses. */
  get endpoint(): Endpoint {
    return { type: this.get("endpoint.type"), backend: this.get("endpoint.backend") };
  }

  get load(): GenaiLoad {
    return loadOf(this.get("perf_analyzer.stimulus").kind);
  }

  /** The input file as the user wrote it, or an empty text, and its format. */
  get input(): { readonly file: string; readonly format: InputFormat } {
    return { file: this.get("input.file"), format: this.get("rampart.input_format") };
  }

  /** Whether only a plan is requested. */
  get isDryRun(): boolean {
    return this.values.get(sharedKeyOf("dry-run")) === true;
  }

  /** Puts the values into the plan of a profile. @param below prefix of the names of options to use; default: all */
  land(plan: Plan, below = ""): Plan {
    return LANDING.filter((option) => valueNameOf(option).startsWith(below) && this.isLanding(option)).reduce(
      (landed, option) => option.land(landed, this.values.get(valueNameOf(option)) as never),
      plan,
    );
  }

  private isLanding(option: LandingOption): boolean {
    const { needs, within = [], landsIfGiven } = option;
    const name = valueNameOf(option);
    const { kind } = this.get("perf_analyzer.stimulus");
    return (
      this.values.get(name) !== null &&
      (needs === undefined || needs === kind) &&
      within.every((one) => !this.isDefault(one)) &&
      (landsIfGiven !== true || this.given.has(name))
    );
  }

  /** Reports whether an option has its default value. */
  isDefault(name: string): boolean {
    return JSON.stringify(this.values.get(name)) === JSON.stringify(DEFAULTS.get(name));
  }

  /** Reports whether the command sets a value that is not the default. A file may repeat defaults, like templates do. */
  isChosen(name: ValueName): boolean {
    return this.given.get(name)?.source === "flag" || !this.isDefault(name);
  }
}
