import { DEFAULT_STALL_TIMEOUT_MS, DEFAULT_WINDOWS } from "../../plan/defaults.ts";
import { defined } from "../../plan/objects.ts";
import type { ClientPlan, OutputsPlan, Plan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { DEFAULT_SEQUENCES, type SequencesPlan } from "../../plan/sequences.ts";
import { DEFAULT_METRICS_INTERVAL_MS, NO_TRACE, type TracePlan } from "../../plan/telemetry.ts";
import { DEFAULT_TLS, type TlsPlan } from "../../plan/tls.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../service/tfserving/target.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../../service/triton/target.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../../service/triton-c-api/target.ts";
import type { ParsedOptions } from "../options/getopt.ts";
import type { Option } from "../options/option.ts";
import { hasPlace, putValue, type ValueAt, valueAt, withValue } from "../options/place.ts";

/** The settings of a command line of perf_analyzer, and how its options set them. */

/** A `start:end:step` triple. Parts that are not given are undefined. */
export interface RangeValue {
  readonly start: number;
  readonly end?: number | undefined;
  readonly step?: number | undefined;
}

/** Default concurrency, if no load is given. */
export const ONE_REQUEST: RangeValue = { start: 1 };

/** The settings of a command line, initially perf_analyzer's defaults. Settings that a Plan also has are at the same paths. */
export class Settings {
  /** First names of the given options. */
  given: ReadonlySet<string> = new Set();

  /** A key of the table of service kinds. */
  serviceKind = "triton";
  /** The path for payloads; empty: not given. */
  endpoint = "";
  /** Method of a gRPC service, `package.Service/Method`; empty: not given. */
  grpcMethod = "";
  /** `.proto` files that describe the method; empty: the server's reflection describes it. */
  protoFiles: readonly string[] = [];
  importPaths: readonly string[] = [];
  /** The signature of a TensorFlow Serving model. */
  signatureName = DEFAULT_TF_SERVING_TARGET.signatureName;
  /** The target. Without a URL, the protocol determines the address. */
  target: Omit<TritonTargetPlan, "url" | "tls"> & {
    readonly url?: string;
    /** Triton's installation and models, if its library is measured in process. */
    readonly directory: string;
    readonly modelRepository: string;
  } = {
    directory: DEFAULT_TRITON_DIRECTORY,
    modelRepository: "",
    protocol: "http",
    model: "",
    ...DEFAULT_TRITON_TARGET,
  };
  /** Values of the `--ssl-grpc-…` options. */
  sslGrpc: TlsPlan = DEFAULT_TLS;
  /** Values of the `--ssl-https-…` options. */
  sslHttps: TlsPlan = DEFAULT_TLS;

  concurrency?: RangeValue;
  requestRate?: RangeValue;
  distribution: "constant" | "poisson" = "constant";
  intervalsFile?: string;
  isFixedSchedule = false;
  periodic?: { readonly start: number; readonly end: number; readonly step: number };
  periodResponses = 10;
  sessionConcurrency?: number;
  sequences: SequencesPlan = DEFAULT_SEQUENCES;

  measurementMode: "time_windows" | "count_windows" = "time_windows";
  requestCount?: number;
  measurement = {
    mode: { ...DEFAULT_WINDOWS, requestsPerWindow: 50 },
    warmupRequests: 0,
    percentile: null as number | null,
    latencyLimitMs: null as number | null,
  };
  isBinarySearch = false;

  isAsync = false;
  isSync = false;
  maxThreads?: number;
  client: Omit<ClientPlan, "callMode" | "maxLanes"> = {
    kind: "own",
    stallTimeoutMs: DEFAULT_STALL_TIMEOUT_MS,
    isMpi: false,
  };
  failures: Plan["failures"] = { maxRatio: 0 };

  /** Values of `--input-data`, which input-data.ts interprets; empty: random. */
  inputData: readonly string[] = [];
  inputs = { stringLength: 128, stringData: "" };

  isCollectingMetrics = false;
  /** Undefined: Triton's default. */
  metricsUrl?: string;
  metricsIntervalMs = DEFAULT_METRICS_INTERVAL_MS;
  telemetry: { readonly trace: TracePlan } = { trace: NO_TRACE };

  outputs: OutputsPlan = {
    style: "perf_analyzer",
    verbosity: 0,
    files: {},
    isVerboseCsv: false,
  };

  isHelp = false;
  isVersion = false;
}

/** Problems and warnings found while values are read. */
class Findings {
  readonly problems: Problem[] = [];
  /** Warnings about values that were changed when they were read. */
  readonly warnings: string[] = [];
  /** Complete lines for stderr, in perf_analyzer's words: deprecated options, and values that are replaced. */
  readonly lines: string[] = [];
}

/**
 * One option's value, with methods to report problems. Numbers are parsed like in perf_analyzer, by C's rules: the longest valid prefix
 * counts, and the rest of the text is ignored.
 */
export class ValueReader {
  readonly text: string;
  readonly findings: Findings;
  readonly name: string;
  private readonly label: string;
  /** Value; undefined for a switch. */
  private readonly value: string | undefined;

  /** @param value undefined for a switch */
  constructor(option: Pick<PerfAnalyzerOption, "names" | "label">, value: string | undefined, findings: Findings) {
    const [name, short] = option.names;
    this.name = name;
    this.label = option.label ?? (short === undefined ? name : `${name} (${short})`);
    this.text = value ?? "";
    this.value = value;
    this.findings = findings;
  }

  /** Whether the option is a switch without a word after it. */
  get isAlone(): boolean {
    return this.value === undefined;
  }

  /** Reports a value that breaks a rule, in perf_analyzer's words. */
  fail(rule: string, hint: string, value = this.value): void {
    this.refuse(`Failed to parse ${this.label}. ${rule}`, hint, value);
  }

  /** Reports a problem in other words. */
  refuse(message: string, hint: string, value = this.value): void {
    this.findings.problems.push(problem("invalid-value", this.name, message, hint, value));
  }

  deprecate(successor: string): void {
    this.findings.lines.push(
      `Warning: ${this.name} is deprecated and will be removed in an upcoming version. Use ${successor} instead.`,
    );
  }

  /** Parses an integer prefix of the text; undefined (with a problem) if there is none. */
  integer(text = this.text): number | undefined {
    return this.number(text, Number.parseInt(text, 10), "a whole number");
  }

  /** Parses a decimal prefix of the text. */
  decimal(text = this.text): number | undefined {
    return this.number(text, Number.parseFloat(text), "a number");
  }

  private number(text: string, value: number, what: string): number | undefined {
    if (Number.isNaN(value)) {
      this.fail(`Invalid value provided: ${this.text}`, `Give ${what}.`, text);
      return undefined;
    }
    if (!Number.isSafeInteger(Math.trunc(value))) {
      this.fail("The value is out of range.", "Give a smaller number.", text);
      return undefined;
    }
    if (Number(text) !== value) this.findings.warnings.push(`${this.name} ${text} is read as ${value}.`);
    return value;
  }
}

/** A subject of options that only some service kinds have. */
export type Feature =
  | "endpoint"
  | "library"
  | "method"
  | "sequences"
  | "signatures"
  | "tensors"
  /** Settings that only Triton's protocol has, such as those of traces. */
  | "triton"
  | "versions";

/** An option of perf_analyzer, or one that Rampart adds. */
export interface PerfAnalyzerOption extends Option<Settings, ValueReader> {
  /** Name in messages. Default: its names. */
  readonly label?: string;
  /** The subject that a service kind must have for this option to have an effect. Absent: every kind uses it. */
  readonly feature?: Feature;
  /** Path of the setting in the Plan, for texts about a run. */
  readonly setting?: string;
  /** Returns whether its setting differs from the default. */
  readonly isChanged?: (settings: Settings) => boolean;
  /** Sets its setting to the default again. */
  readonly reset?: (settings: Settings) => void;
  /** Returns names and values that produce the given plan; empty if the option's default does. Absent: no plan needs the option. */
  readonly print?: (plan: Plan) => readonly string[];
  /** Sets the value from a plan. Absent: plans do not contain it. */
  readonly take?: (settings: Settings, plan: Plan) => void;
  /** Returns a plan with the value of this option; the same plan if it has no place for it. Absent: no plan has one. */
  readonly land?: Land;
}

/** Puts the value of an option into a plan that another front door built. */
export type Land = (plan: Plan, settings: Settings) => Plan;

/** An option without a heading. The table adds the heading to a whole list. */
export type UngroupedOption = Omit<PerfAnalyzerOption, "group">;

/** A setting and its path: `client.kind`. */
export type Place<T = Settings> = {
  [K in keyof T & string]: NonNullable<T[K]> extends Part ? K | `${K}.${Place<NonNullable<T[K]>>}` : K;
}[keyof T & string];

/** An object with properties, not an array. */
type Part = object & { readonly [Symbol.iterator]?: never };

/** An option that sets one setting. */
export interface Entry<V> extends Omit<UngroupedOption, "read" | "print" | "isChanged" | "reset"> {
  /** Reads a value. Undefined leaves the setting unchanged. @param before current value of the setting, to which some options add */
  readonly parse: (reader: ValueReader, before: V, settings: Settings) => V | undefined;
  /** The setting's value in a plan; undefined if the option cannot express it. Default: the value at the same path in the plan. */
  readonly of?: (plan: Plan) => V | undefined;
  /** Formats a value as a user types it; several for a repeatable option; for a switch, a count. Default: JavaScript's `String`. */
  readonly format?: (value: NonNullable<V>) => string | readonly string[];
}

const INITIAL = new Settings();

/**
 * Creates an option from a setting and how it is read and written. Its default in help, and its conversion to and from a plan, follow from
 * these.
 * @param at path of the setting. If a plan has the same path, the setting is put there unless `land` is given
 */
export function option<P extends Place>(at: P, entry: Entry<ValueAt<P, Settings>>): UngroupedOption {
  type V = ValueAt<P, Settings>;
  const { parse, of = (plan) => valueAt(plan, at) as V, format = formatPlainly, ...rest } = entry;
  const value = entry.value ?? entry.choices?.join("|");
  const words = (one: V | undefined): readonly string[] =>
    one === null || one === undefined ? [] : [format(one)].flat();
  const initial = words(valueAt(INITIAL, at) as V);
  const isInitial = (one: readonly string[]): boolean => one.join("\0") === initial.join("\0");
  const defaultText = entry.defaultText ?? (value === undefined ? "" : initial.join());
  const [name] = entry.names;
  return {
    setting: at,
    ...rest,
    ...defined({ value }),
    ...(defaultText === "" ? {} : { defaultText }),
    read: (settings, _text, reader) => {
      const read = parse(reader, valueAt(settings, at) as V, settings);
      if (read !== undefined) putValue(settings, at, read);
    },
    isChanged: (settings) => !isInitial(words(valueAt(settings, at) as V)),
    reset: (settings) => putValue(settings, at, valueAt(INITIAL, at)),
    print: (plan) => {
      const printed = words(of(plan));
      if (isInitial(printed)) return [];
      if (value !== undefined) return printed.flatMap((word) => [name, word]);
      const times = printed[0] === "true" ? 1 : Number(printed[0]);
      return Array.from({ length: times }, () => name);
    },
    take: (settings, plan) => {
      const taken = of(plan);
      if (taken !== undefined) putValue(settings, at, taken);
    },
    land: entry.land ?? ((plan, settings) => (hasPlace(plan, at) ? withValue(plan, at, valueAt(settings, at)) : plan)),
  };
}

function formatPlainly(value: unknown): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

/** Settings, with all problems and warnings. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Complete lines for stderr, in perf_analyzer's words. */
  readonly lines: readonly string[];
}

/** Reads the values of all given options. @param settings initial settings, which are modified. Default: perf_analyzer's defaults */
export function readSettings(
  { given, positional, problems }: ParsedOptions<PerfAnalyzerOption>,
  settings = new Settings(),
): ReadSettings {
  const findings = new Findings();
  for (const { option, value } of given) {
    option.read(settings, value ?? "", new ValueReader(option, value, findings));
    settings.given = new Set([...settings.given, option.names[0]]);
  }
  // perf_analyzer also ignores them, but without a warning.
  for (const argument of positional)
    findings.warnings.push(`'${argument}' is ignored: perf_analyzer takes no arguments besides flags.`);
  const { warnings, lines } = findings;
  return { settings, problems: [...problems, ...findings.problems], warnings, lines };
}
