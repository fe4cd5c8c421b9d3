import type { NameOf, SettingPath } from "../../plan/messages.ts";
import type { Scenario } from "../../scenario/define.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import { HTTP_METHODS } from "../../transport/request.ts";
import type { CommandIo, PointWatch } from "../execute.ts";
import { announceTime } from "../expected-time.ts";
import { flagCommand } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import { DURATIONS_NOTE, type HelpPage } from "../help/page.ts";
import { inFleet } from "../in-fleet.ts";
import type { PlanValues } from "../options/place.ts";
import { sharedNameOf } from "../options/shared-options.ts";
import { type PlanChanges, planChange } from "../run.ts";
import { type FlagsOfFields, inFlags, runMadePlan } from "../scenarios/run-made-plan.ts";
import { runSweep } from "../scenarios/several.ts";
import type { SweepDoor } from "../scenarios/sweep.ts";
import { inScenario, NAMES_AT_URL } from "../setting-names.ts";
import { commandFlags } from "../shared-flags.ts";
import { toScenario } from "./to-scenario.ts";

/** `rampart http URL`: measures any HTTP server without a scenario. */

/** The options of `rampart http`. Options that curl, hey and oha share have the same names and letters. */
export const FLAGS: readonly Flag[] = commandFlags("http", [
  { name: "warmup", value: "DURATION", help: "Send requests for this long first, which are not measured." },
  {
    name: "method",
    isCommon: true,
    short: "X",
    meant: ["-m", "--request"],
    value: "METHOD",
    choices: HTTP_METHODS,
    defaultText: "POST with a body, otherwise GET",
    help: "Method of the requests.",
  },
  {
    name: "data",
    meant: ["--body", "--data-raw", "--data-binary", "--json-body"],
    meantAs: { "-D": "-d @FILE" },
    isCommon: true,
    short: "d",
    value: "TEXT|@FILE|@-",
    help: "Body of the requests: this text, the bytes of a file, or those of standard input. JSON is sent as application/json.",
  },
  {
    name: "form",
    isRepeatable: true,
    isCommon: true,
    short: "F",
    value: "NAME=VALUE|NAME=@FILE",
    help: "Field of a multipart/form-data body. ;type=… after a file gives its type.",
  },
  {
    name: "status",
    value: "LIST",
    defaultText: "200 to 299",
    help: "Statuses of successful responses, such as 200,404. Redirects are not followed.",
  },
  {
    name: "success",
    value: "EXPRESSION",
    help: "JMESPath expression over the JSON response that must be true: 'error == null'.",
  },
  {
    name: "extract",
    isRepeatable: true,
    value: "NAME=EXPRESSION",
    help: "Report this value of JSON responses, a JMESPath expression: tokens=usage.total_tokens.",
  },
  { name: "cacert", value: "FILE", help: "PEM file of the authorities to trust." },
  { name: "cert", value: "FILE", help: "PEM file of the client's certificate." },
  { name: "key", value: "FILE", help: "PEM file of its private key." },
]);

/** Names of a scenario's settings in this command. */
const FLAG_NAMES: Readonly<Partial<Record<SettingPath, string>>> = {
  ...NAMES_AT_URL,
  "inputs.data": "--data",
  "load.concurrency": "--users",
  "measurement.warmupRequests": "--warmup",
  "target.apiKeyEnv": '-H "Authorization: Bearer …"',
  "target.tls=false": NAMES_AT_URL["target.url=http"],
  "target.tls=identified-http": "--cert FILE --key FILE",
  "target.tls=trusting-http": "--cacert FILE",
  "telemetry.metrics": "metrics: {} to a scenario",
};

const inHttp: NameOf = (path) => FLAG_NAMES[path] ?? sharedNameOf("http", path) ?? inScenario(path);

const FIELDS: FlagsOfFields = [
  [/^target\.(url|moreUrls|path)\b.*/, "URL"],
  [/^target\.method$/, "--method"],
  [/^target\.headers\./, "--header "],
  [/^target\.headers$/, "--header"],
  [/^target\.body$/, "--data"],
  [/^target\.success\.where$/, "--success"],
  [/^target\.success\.status.*/, "--status"],
  [/^target\.extract\./, "--extract "],
  [/^load\.concurrencyLimit$/, "--users"],
  [/^load\b.*/, "--rate"],
];

/** The command. */
export const COMMAND = flagCommand({
  operand: { name: "URL", takes: "word" },
  page: helpPage,
  nameOf: inHttp,
  run: runHttpCommand,
});

/** Runs `rampart http`. Returns the exit code. */
async function runHttpCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  if (flags.has("sweep")) {
    const runPoint: SweepDoor["runPoint"] = (pointFlags, pointIo, watch) => {
      const { scenario, ...given } = toScenario(pointFlags);
      return runScenario(scenario, { flags: pointFlags, watch }, given, pointIo);
    };
    return runSweep(flags, { door: "http", parameters: [], runPoint }, io);
  }
  const { scenario, values, limits } = toScenario(flags);
  const run = (given: PlanValues): Promise<number> => runScenario(scenario, { flags }, { values: given, limits }, io);
  return flags.has("dry-run") ? run(values) : inFleet(values, io, run);
}

/** Runs the scenario, or prints its plan. @param asked the flags, and the observer of a point of a sweep */
async function runScenario(
  scenario: Scenario,
  { flags, watch }: { readonly flags: FlagValues; readonly watch?: PointWatch },
  given: PlanChanges,
  io: CommandIo,
): Promise<number> {
  try {
    const plan = toPlan(scenario, process.cwd(), { showsLines: true }, planChange(given));
    if (!flags.has("quiet") && !flags.has("dry-run") && watch === undefined) announceTime(plan, "code", io);
    return await runMadePlan(plan, { flags, watch }, io);
  } catch (error) {
    throw inFlags(error, inHttp, FIELDS);
  }
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} URL [options]`],
    about: [
      "Measures any HTTP server: sends the same request again and again, and reports latency, throughput and failures. For more than that write a scenario.",
    ],
    flags: FLAGS,
    flagsNote: DURATIONS_NOTE,
    examples: [
      `${command} http://localhost:8080/health -c 16 --for 10s`,
      `${command} localhost:8080/predict -c 16 -n 1000 -d @body.json`,
      `${command} localhost:8080/predict -r 200 -F image=@cat.jpg --json run.json`,
    ],
    exitCodes:
      "0 passed, 64 wrong usage, 65 a limit of --fail-if is broken, 66 undecided, 69 server unreachable, stalled or failing, 74 a report could not be written, 130 interrupted, 1 internal error.",
  };
}
