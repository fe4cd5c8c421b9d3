import { defined } from "../../plan/objects.ts";
import { ONLY_ONE, type Problem, problem, UserError } from "../../plan/problem.ts";
import { EXIT } from "../../result/exit-codes.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import type { HelpPage } from "../help/page.ts";
import { PODS_WAIT_MS } from "../options/client-options.ts";
import { formatNotation } from "../options/shared-option.ts";
import { FLAGS as RUN_FLAGS } from "../run.ts";
import { readShared, sharedFlags } from "../shared-flags.ts";
import { formatDocuments, type JobSettings } from "./documents.ts";
import { POD_FOLDER, type PodFile } from "./pod-files.ts";
import { ownAddressesOf, type PodScenario, readPodScenario } from "./pod-scenario.ts";

/** `rampart k8s manifest x.ts`: prints a manifest whose pods send the load of a scenario. */

const BUS_FILE = /^bus-/;

/** Options of `rampart run` that have no meaning here. */
const OMITTED = ["dry-run"];

/** Options that `rampart run` lacks, or that have another meaning here. */
export const OWN_FLAGS: readonly Flag[] = [
  ...sharedFlags("k8s"),
  {
    name: "image",
    isCommon: true,
    value: "IMAGE",
    help: "Container image with the program rampart of this version; compile/Containerfile makes one.",
  },
  { name: "namespace", value: "NAME", defaultText: "that of kubectl", help: "Namespace of all objects." },
  {
    name: "name",
    value: "NAME",
    defaultText: "made from the scenario's name",
    help: "Name of the Job and of the other objects.",
  },
  {
    name: "cpu",
    value: "QUANTITY",
    defaultText: "a core for each of --workers",
    help: "Cores that each pod requests, such as 2 or 500m.",
  },
  { name: "memory", value: "QUANTITY", default: "1Gi", help: "Memory that each pod requests." },
  {
    name: "env",
    isRepeatable: true,
    value: "NAME",
    help: "Variable of this environment that the pods get too, in the Secret. Those of the scenario's parameters and API keys are found without it.",
  },
  { name: "nats-image", value: "IMAGE", default: "nats:2.10-alpine", help: "Image of the NATS server, without --bus." },
];

/** Options of the command, and those of `rampart run`, which are passed to the conductor. */
export const FLAGS: readonly Flag[] = [
  ...OWN_FLAGS,
  ...RUN_FLAGS.filter(({ name }) => !OMITTED.includes(name) && !OWN_FLAGS.some((flag) => flag.name === name)),
];

/** The subcommand. */
export const COMMAND = flagCommand({
  page: helpPage,
  operand: { name: "SCENARIO", takes: "file" },
  run: printManifest,
});

/** Runs the command. Returns the exit code. */
async function printManifest(flags: FlagValues, io: CommandIo): Promise<number> {
  const problems: Problem[] = [...flags.problems, ...checkFlags(flags)];
  const values = readShared(flags, "run", problems);
  const [file] = flags.positionals;
  const scenario = file === undefined ? undefined : await readPodScenario(file, flags, values, problems, io);
  if (scenario === undefined || problems.length > 0) throw new UserError(problems);
  for (const url of ownAddressesOf(scenario.plan))
    io.err(`rampart: the target's address ${url} is that of each pod itself\n`);
  (io.pipe ?? io.out)(formatDocuments(toJob(flags, scenario)));
  return EXIT.passed;
}

/** A label of RFC 1035, as required for a Service. With the number of a pod it is a host name. */
const LABEL = /^[a-z](?:[-a-z0-9]{0,48}[a-z0-9])?$/;
const MOST_LABEL = 50;
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const QUANTITY = /^\d+(?:\.\d+)?(?:m|k|[KMGTPE]i|[MGTPE])?$/;

/** Forms of values: the flag, the rule, and an example. */
const FORMS: readonly (readonly [name: string, form: RegExp, message: string, hint: string])[] = [
  ["image", /^[^\s:/][^\s]*$/, "must be the name of an image", "Give one such as registry.example/rampart:0.1.0."],
  ["nats-image", /^[^\s:/][^\s]*$/, "must be the name of an image", "Give one such as nats:2.10-alpine."],
  ["namespace", NAMESPACE, "must be the name of a namespace", "Use at most 63 small letters, digits and hyphens."],
  ["name", LABEL, "must be the name of a Job", "Use at most 50 small letters, digits and hyphens, a letter first."],
  ["cpu", QUANTITY, "must be a number of cores", "Give one such as 2 or 500m."],
  ["memory", QUANTITY, "must be an amount of memory", "Give one such as 2Gi."],
];

function checkFlags(flags: FlagValues): Problem[] {
  const missing = (isThere: boolean, path: string, hint: string): Problem[] =>
    isThere ? [] : [problem("missing", path, "is needed", hint)];
  const isGiven = (name: string): boolean => flags.has(name) || flags.problems.some(({ path }) => path === `--${name}`);
  const wrong = FORMS.flatMap(([name, form, message, hint]) => {
    const text = flags.text(name);
    return text === undefined || form.test(text) ? [] : [problem("invalid-value", `--${name}`, message, hint, text)];
  });
  const isUnused = flags.has("bus") && flags.has("nats-image");
  return [
    ...missing(flags.positionals.length > 0, "SCENARIO", "Write rampart k8s manifest x.ts --agents 20 --image IMAGE."),
    ...missing(isGiven("agents"), "--agents", "Give the number of pods that send, such as 20."),
    ...missing(isGiven("image"), "--image", "Give the image with Rampart; compile/Containerfile makes one."),
    ...wrong,
    ...(isUnused ? [problem("conflict", "--nats-image", "has no effect with --bus", ONLY_ONE)] : []),
  ];
}

/** @param flags flags without problems */
function toJob(flags: FlagValues, scenario: PodScenario): JobSettings {
  const { plan, files, variables, sets } = scenario;
  const busFiles = FLAGS.flatMap(({ name }): PodFile[] => {
    const source = BUS_FILE.test(name) ? flags.text(name) : undefined;
    return source === undefined ? [] : [{ source, path: `bus/${name}`, isSecret: true }];
  });
  const agentCount = Number(flags.text("agents"));
  const namespace = flags.text("namespace");
  const busUrl = flags.text("bus");
  return {
    name: flags.text("name") ?? toLabel(plan.name),
    ...defined({ namespace }),
    image: flags.value("image"),
    bus: busUrl === undefined ? { image: flags.value("nats-image") } : { url: busUrl },
    agentCount,
    requests: { cpu: flags.text("cpu") ?? String(plan.client.workers ?? 1), memory: flags.value("memory") },
    scenario: `${POD_FOLDER}/${scenario.scenario}`,
    options: [
      `--agents=${agentCount}`,
      `--agents-wait=${flags.text("agents-wait") ?? formatNotation("duration", PODS_WAIT_MS)}`,
      ...busFiles.map(({ path }) => `--${path.replace("bus/", "")}=${POD_FOLDER}/${path}`),
      ...sets.map((set) => `--set=${set}`),
      ...passedOptions(flags),
    ],
    files: [...files, ...busFiles],
    variables,
  };
}

function toLabel(text: string): string {
  const letters = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const words = letters.replaceAll(/[^a-z0-9]+/g, "-").replace(/^[-\d]+/, "");
  const label = words.slice(0, MOST_LABEL).replace(/-+$/, "");
  return LABEL.test(label) ? label : "rampart";
}

/** Returns the given options that are passed to the conductor unchanged. */
function passedOptions(flags: FlagValues): string[] {
  const others = new Set([...OWN_FLAGS.map(({ name }) => name), "set"]);
  return FLAGS.filter(({ name }) => !others.has(name) && !BUS_FILE.test(name)).flatMap(({ name, value }) => {
    if (value !== undefined) return flags.texts(name).map((text) => `--${name}=${text}`);
    return flags.has(name) ? [`--${name}`] : [];
  });
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} SCENARIO.ts --agents N --image IMAGE [options]`],
    about: [
      "Prints a manifest for Kubernetes: a Job whose first pod conducts the run and prints the report, and whose other pods send the load; the files of the scenario; and a NATS server for them, unless --bus names one. It asks neither the cluster nor the scenario's server. The target's address is that of the pods. Options of rampart run go to the conductor. rampart help hosts is the guide.",
    ],
    flags: FLAGS,
    examples: [
      `${command} load.ts --agents 20 \\`,
      "  --image registry.example/rampart:0.1.0 | kubectl apply --server-side -f -",
    ],
    exitCodes: "0 printed, 64 wrong usage or scenario.",
  };
}
