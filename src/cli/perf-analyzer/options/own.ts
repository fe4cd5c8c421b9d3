import { DEFAULT_MAX_RESPONSE_BYTES, MOST_RESPONSE_BYTES } from "../../../plan/response-limit.ts";
import { msToSec, secToMs } from "../../../plan/units.ts";
import { resolveOtlpUrl } from "../../../report/live/otlp/otlp-settings.ts";
import { toOutputPath } from "../../output-files.ts";
import { option, type UngroupedOption } from "./option.ts";
import { choice, decimal, filled, GIVE_FILE, on, whole } from "./readers.ts";
import type { ValueReader } from "./value-reader.ts";

/** Options that Rampart adds. */
export const OWN: readonly UngroupedOption[] = [
  option("protoFiles", {
    names: ["--proto"],
    isOwn: true,
    setting: "target.protoFiles",
    isForMessages: true,
    value: "FILE",
    defaultText: "the server's reflection",
    isRepeatable: true,
    help: "The .proto file that describes the method and its messages. Needs --service-kind dynamic_grpc.",
    parse: (reader, before) => [...before, filled("Give the path of a .proto file.")(reader)],
    of: ({ target }) => ("protoFiles" in target ? target.protoFiles : []),
    format: (files) => files,
  }),
  option("importPaths", {
    names: ["--proto-path"],
    isOwn: true,
    setting: "target.importPaths",
    isForMessages: true,
    value: "DIR",
    defaultText: "the folder of each file, and those above it",
    isRepeatable: true,
    help: "Folder in which --proto files and their imports are looked for first.",
    parse: (reader, before) => [...before, filled("Give the path of a folder.")(reader)],
    of: ({ target }) => ("importPaths" in target ? target.importPaths : []),
    format: (folders) => folders,
  }),
  option("isHelp", { names: ["--help", "-h"], isOwn: true, help: "Print this help and exit.", parse: on }),
  option("isDryRun", {
    names: ["--dry-run"],
    isOwn: true,
    help: "Print the plan as JSON and exit; no server is asked.",
    parse: on,
  }),
  option("client.kind", {
    names: ["--client"],
    isOwn: true,
    ...choice(["own", "undici", "grpc-js"], { rule: (given) => `Unsupported type provided: '${given}'.` }),
    help: "What sends the requests: Rampart's client, or a general one to compare with.",
  }),
  option("client.stallTimeoutMs", {
    names: ["--stall-timeout"],
    isOwn: true,
    value: "SEC",
    unit: "seconds",
    help: "A request without a byte for this long has failed.",
    parse: secondsToMs("Give seconds, for example 30."),
    format: formatSeconds,
  }),
  option("client.requestTimeoutMs", {
    names: ["--request-timeout"],
    isOwn: true,
    value: "SEC",
    unit: "seconds",
    help: "A request without its complete response for this long has failed, however often bytes arrive.",
    parse: secondsToMs("Give seconds, for example 300."),
    format: formatSeconds,
  }),
  option("client.maxResponseBytes", {
    names: ["--max-response-bytes"],
    isOwn: true,
    value: "N",
    unit: "bytes",
    defaultText: String(DEFAULT_MAX_RESPONSE_BYTES),
    help: "A request whose response is longer has failed: its body, or all messages for it, decompressed.",
    parse: whole(
      (value) => value > 0 && value <= MOST_RESPONSE_BYTES,
      `The value must be from 1 to ${MOST_RESPONSE_BYTES} bytes.`,
      "Give bytes, for example 1000000000.",
    ),
  }),
  option("failures.maxRatio", {
    names: ["--max-failure-ratio"],
    isOwn: true,
    value: "RATIO",
    help: "Share of failed requests, 0 to 1, that does not end the run.",
    parse: decimal((value) => value >= 0 && value <= 1, "The value must be from 0 to 1.", "Give for example 0.01."),
  }),
  option("outputs.files.json", {
    names: ["--json"],
    isOwn: true,
    value: "FILE",
    help: "Write Rampart's own report too: all requests of the run, confidence, histograms, the client's CPU and lag.",
    parse: (reader) => toOutputPath(filled(GIVE_FILE)(reader)),
  }),
  option("outputs.files.html", {
    names: ["--report"],
    isOwn: true,
    value: "FILE",
    help: "Write the report as a page: one HTML file with verdicts, charts and tables that needs no network.",
    parse: filled(GIVE_FILE),
  }),
  option("outputs.files.junit", {
    names: ["--junit"],
    isOwn: true,
    value: "FILE",
    help: "Write the verdicts as JUnit XML, with a test case for each level.",
    parse: filled(GIVE_FILE),
  }),
  option("outputs.files.markdown", {
    names: ["--markdown"],
    isOwn: true,
    value: "FILE",
    help: "Write a summary in Markdown. - is standard output; the text then goes to stderr.",
    parse: (reader) => toOutputPath(filled(GIVE_FILE)(reader)),
  }),
  option("outputs.isLive", {
    names: ["--live"],
    isOwn: true,
    help: "Show the state of the run on stderr while it lasts: redrawn on a terminal, otherwise a line every 5 s.",
    parse: on,
  }),
  option("outputs.watchPort", {
    names: ["--watch-port"],
    isOwn: true,
    value: "PORT",
    help: "Serve the state of the run on 127.0.0.1 while it lasts: a web page, and /metrics for Prometheus. 0: a free port.",
    parse: whole(
      (value) => value >= 0 && value <= 65_535,
      "The value must be a port.",
      "Give a port from 1 to 65535, or 0 for a free one.",
    ),
  }),
  option("outputs.otlpUrl", {
    names: ["--otlp"],
    isOwn: true,
    value: "URL|env",
    help: "Send metrics to this OpenTelemetry collector while the run lasts, as OTLP over HTTP (default path: /v1/metrics). env takes the address from OTEL_EXPORTER_OTLP_ENDPOINT.",
    parse: readOtlpUrl,
  }),
];

/** Reads where OTLP goes. */
function readOtlpUrl(reader: ValueReader): string | undefined {
  const resolved = resolveOtlpUrl(reader.text, process.env);
  if ("url" in resolved) return resolved.url;
  reader.fail(`The value ${resolved.message}.`, resolved.hint);
  return undefined;
}

function secondsToMs(hint: string): (reader: ValueReader) => number | undefined {
  const read = decimal((value) => value > 0, "The value must be > 0 seconds.", hint);
  return (reader) => {
    const seconds = read(reader);
    return seconds === undefined ? undefined : secToMs(seconds);
  };
}

function formatSeconds(ms: number): string {
  return String(msToSec(ms));
}
