import assert from "node:assert/strict";
import { test } from "node:test";
import { formatHelp } from "../../../src/cli/genai-perf/help.ts";
import { type GenaiFlag, type GenaiOption, valueNameOf } from "../../../src/cli/genai-perf/options/genai-option.ts";
import { ALL_OPTIONS, DEFAULTS, flagsOf, SUBCOMMANDS } from "../../../src/cli/genai-perf/options/subcommands.ts";
import { isGroup, YAML_KEYS, type YamlGroup, type YamlKey } from "../../../src/cli/genai-perf/options/yaml-keys.ts";
import { toProfilePlan } from "../../../src/cli/genai-perf/plan/to-plan.ts";
import { formatUsage } from "../../../src/cli/genai-perf/usage.ts";
import { valueAt } from "../../../src/cli/options/place.ts";
import { ORIGINAL_FLAGS } from "./original-flags.ts";
import { golden, readGood } from "./read.ts";

for (const subcommand of SUBCOMMANDS) {
  const flags = flagsOf(subcommand);
  const known = flags.filter(({ isRampart }) => isRampart !== true);

  test(`${subcommand} has the original's flags with all their names, in its order`, () => {
    assert.deepEqual(
      known.map(({ names }) => names.join(" ")),
      ORIGINAL_FLAGS[subcommand].map(([names]) => names),
    );
  });

  test(`${subcommand}: settings of flags have GenAI-Perf's defaults`, () => {
    for (const [names, fallback] of ORIGINAL_FLAGS[subcommand]) {
      const flag = known.find((one) => one.names.join(" ") === names) as GenaiFlag;
      assert.deepEqual(flag.default, fallback, names);
    }
  });

  test(`${subcommand} prints the original's usage`, () => {
    assert.equal(formatUsage(subcommand), golden(`usage-${subcommand}.txt`));
  });

  test(`${subcommand}: help shows every flag and fits the page`, () => {
    const help = formatHelp(subcommand);
    for (const { names } of flags) for (const name of names) assert.match(help, new RegExp(`(^ *|, )${name}\\b`, "m"));
    for (const line of help.split("\n").slice(formatUsage(subcommand).split("\n").length))
      assert.ok(line.length <= 98 || line.startsWith("  -"), line);
  });

  test(`${subcommand}: no two flags share a name`, () => {
    const names = flags.flatMap((flag) => [...flag.names, ...(flag.documentedNames ?? [])]);
    assert.equal(new Set(names).size, names.length);
  });
}

test("the tool's own usage is the original's", () => {
  assert.equal(formatUsage(undefined), golden("usage.txt"));
});

/** The keys with values below some entries of the file, with the groups above them. */
function keysBelow(entries: readonly (YamlKey | YamlGroup)[], above = ""): string[] {
  return entries.flatMap((entry) =>
    isGroup(entry) ? keysBelow(entry.entries, `${above}${entry.key}.`) : [`${above}${entry.key}`],
  );
}

test("every key of an option is in the file once, and every value of a flag has a key", () => {
  const keys = ALL_OPTIONS.flatMap(({ key }) => (key === undefined ? [] : [key]));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keysBelow(YAML_KEYS).sort(), [...keys].sort());
  const named = ALL_OPTIONS.flatMap((option: GenaiOption) =>
    option.default === undefined || option.key !== undefined ? [] : [valueNameOf(option)],
  );
  assert.deepEqual(named, ["-f", "-v"]);
});

test("GenAI-Perf's keys are in its order, followed by Rampart's in one group", () => {
  const template = golden("template.txt");
  const names = keysBelow(YAML_KEYS.filter(({ key }) => key !== "rampart")).map((key) => key.split(".").at(-1));
  const written = [...template.matchAll(/^ +(?:# +)?([a-z_]+):/gm)].map(([, key]) => key);
  assert.deepEqual(
    names.filter((name) => !written.includes(name)),
    [],
  );
  assert.equal(YAML_KEYS.at(-1)?.key, "rampart");
});

test("an option that names others names their values", () => {
  const within = ALL_OPTIONS.flatMap(({ within = [] }: GenaiOption) => within);
  assert.ok(within.length > 0);
  assert.deepEqual(
    within.filter((name) => !DEFAULTS.has(name)),
    [],
  );
});

test("every own option has a flag, a value and a key below rampart", () => {
  const own: GenaiOption[] = ALL_OPTIONS.filter(({ group }) => group === "Rampart");
  for (const { names, key, default: fallback, isRampart } of own) {
    assert.ok(names !== undefined && fallback !== undefined && isRampart === true, key);
    assert.match(key ?? "", /^rampart\.[a-z_]+$/);
  }
});

const METHOD = "endpoint.grpc_method";
const CALL = ["--input-file", "package.json", "--grpc-method", "a.B/Other"] as const;

/** A value that a flag takes and that is not its default. */
function sampleOf(flag: GenaiFlag): string[] {
  if (flag.count === "switch") return [];
  const fallback = flag.default === undefined ? undefined : String(flag.default);
  if (flag.choices !== undefined) return [String(flag.choices.find((choice) => String(choice) !== fallback))];
  if (flag.names[0] === "--goodput" || flag.names[0] === "--search-limits") return ["request_latency:3"];
  if (flag.kind === "file") return ["synthetic:queries"];
  if (flag.names[0] === "--audio-depths") return ["8"];
  if (flag.key === METHOD) return ["a.B/C"];
  if (flag.kind === "decimal" && flag.max === 1) return ["0.5"];
  return ["text", "texts", "path", "headers", "object"].includes(flag.kind) ? ["x:1"] : ["7"];
}

/** Settings of the images and of the audio in requests. */
const IMAGES = /^input\.image\./;
const AUDIO = /^input\.audio\./;
const SESSIONS = /^input\.sessions\./;

/** An endpoint type for which the flag has a meaning. */
function typeFor(name: string): string {
  if (name === "input.batch_size") return "embeddings";
  if (SESSIONS.test(name) || name === "output.generate_plots") return "chat";
  if (name === METHOD) return "dynamic_grpc";
  return IMAGES.test(name) || AUDIO.test(name) ? "multimodal" : "kserve";
}

/** The plan of a profile, without what it echoes of the options. */
function planOf(...args: string[]): object {
  const { outputs, ...plan } = toProfilePlan(readGood("profile", "-m", "tiny", ...args).asked, "folder", []);
  return { ...plan, outputs: { ...outputs, genaiPerf: { ...outputs.genaiPerf, inputConfig: undefined } } };
}

test("every flag that stores a value is known under each of its names, and lands in the plan if it has a place there", () => {
  const flags = flagsOf("profile").filter((flag) => flag.default !== undefined && flag.isRampart !== true);
  const skipped = new Set(["-m", "--tokenizer-trust-remote-code", "--profile-export-file"]);
  for (const flag of flags.filter(({ names }) => !skipped.has(names[0]))) {
    const own = valueNameOf(flag);
    const needed = [
      ...(own.startsWith("input.output_tokens.") ? ["--osl", "9"] : []),
      ...(SESSIONS.test(own) ? ["--session-concurrency", "1", "--num-sessions", "2"] : []),
      ...(own.startsWith("input.prefix_prompt.") ? ["--num-prefix-prompts", "2"] : []),
      ...(own === "perf_analyzer.stability_percentage" ? ["-p", "500"] : []),
      ...(own === METHOD ? CALL : []),
      ...(IMAGES.test(own) ? ["--image-width-mean", "9", "--image-height-mean", "9"] : []),
      ...(AUDIO.test(own) ? ["--audio-length-mean", "9"] : []),
      ...(flag.names[0] === "--endpoint-type" ? [] : ["--endpoint-type", typeFor(own)]),
    ].filter((_, index, all) => all[index - (index % 2)] !== flag.names[1]);
    const without = planOf(...needed);
    for (const name of [...flag.names, ...(flag.documentedNames ?? [])]) {
      const values =
        flag.names[0] === "--server-metrics-url"
          ? ["http://gpu:1/metrics", "http://gpu:2/metrics"]
          : flag.names[0] === "--endpoint-type"
            ? ["chat"]
            : sampleOf(flag);
      const { asked } = readGood("profile", "-m", "tiny", ...needed, name, ...values);
      assert.notDeepEqual(asked.values.get(own), flag.default, name);
      assert.equal(asked.given.get(own)?.place, name);
      if (flag.land !== undefined) assert.notDeepEqual(planOf(...needed, name, ...values), without, name);
    }
  }
});

test("a value does not land where the plan of its command has no place for it", () => {
  const images = ["--image-width-mean", "9", "--image-height-mean", "9", "--endpoint-type", "multimodal"];
  for (const [place, ...args] of [
    ["requests.prompts.prefix", "--prefix-prompt-length", "7"],
    ["requests.prompts.sessions", "--session-turns-mean", "3"],
    ["requests.prompts.images.format", ...images],
    ["measurement.mode.stabilityPct", "-s", "50"],
    ["measurement.mode.graceMs", "--request-count", "5"],
    ["requests.body.asksUsage", "--no-server-usage", "--endpoint-type", "dynamic_grpc", ...CALL],
    ["cancellation", "--request-cancellation-rate", "0"],
    ["load.ramp", "--request-rate", "5", "--request-rate-ramp-duration", "0"],
    ["load.smoothness", "--request-rate", "5", "--request-rate-distribution", "poisson"],
    ["load.part", "--fixed-schedule", "--fixed-schedule-speed", "1", "--input-file", "payload:package.json"],
    ["measurement.warmupMs", "--warmup-duration", "0"],
  ] as const)
    assert.equal(valueAt(planOf(...args), place), undefined, args.join(" "));
  const { images: drawn } = toProfilePlan(
    readGood("profile", "-m", "tiny", ...images, "--image-format", "png").asked,
    "",
    [],
  ).requests.prompts;
  assert.equal(drawn?.format, "png");
});
