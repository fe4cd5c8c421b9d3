import { parseLatency } from "../mock/latency.ts";
import { startMock } from "../mock/server.ts";
import type { MockPlan } from "../plan/plan.ts";
import { type Problem, UserError } from "../plan/problem.ts";
import type { CommandIo } from "./execute.ts";
import { EXIT } from "./exit-codes.ts";
import { explainErrors } from "./explain.ts";
import { type Flag, type FlagValues, formatFlags, HELP_FLAG, parseFlags } from "./flags.ts";

/** `rampart mock`: a KServe v2 server to measure when there is no other. */

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024; // 64 MiB
const MAX_PORT = 65_535;

const FLAGS: readonly Flag[] = [
  { name: "host", value: "HOST", default: "127.0.0.1", help: "Address to listen on." },
  { name: "http-port", value: "PORT", default: "8000", help: "Port for HTTP; 0 takes a free one." },
  { name: "grpc-port", value: "PORT", default: "8001", help: "Port for gRPC; 0 takes a free one." },
  {
    name: "latency",
    value: "LATENCY",
    default: "0ms",
    help: "Time before each answer: 5ms, or drawn from uniform:1ms:9ms, normal:5ms:1ms (mean and deviation) or exponential:5ms.",
  },
  { name: "error-ratio", value: "RATIO", default: "0", help: "Share of requests answered with an error, 0 to 1." },
  { name: "response-bytes", value: "BYTES", default: "0", help: "Bytes of extra output per response." },
  HELP_FLAG,
];

/** Serves until Ctrl-C. Returns the exit code. */
export async function runMockCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const { plan, host, httpPort, grpcPort } = readFlags(flags);
    const server = await startMock(plan, { host, httpPort, grpcPort });
    io.out(`listening: http ${host}:${server.httpPort}, grpc ${host}:${server.grpcPort}, model simple; Ctrl-C stops\n`);
    await new Promise<void>((resolve) => {
      io.onInterrupt(resolve);
      process.once("SIGTERM", () => resolve());
    });
    await server.stop();
    return EXIT.passed;
  });
}

function readFlags(flags: FlagValues): { plan: MockPlan; host: string; httpPort: number; grpcPort: number } {
  const problems: Problem[] = [...flags.problems];
  const number = (name: string, preset: number, max: number, isWhole: boolean): number => {
    const text = flags.text(name);
    if (text === undefined) return preset;
    const value = Number(text);
    const isGood = text.trim() !== "" && value >= 0 && value <= max && (!isWhole || Number.isInteger(value));
    if (isGood) return value;
    const hint = `Give a ${isWhole ? "whole " : ""}number from 0 to ${max}.`;
    problems.push({ path: `--${name}`, message: "is out of range or not a number", value: text, hint });
    return preset;
  };
  const latencyText = flags.text("latency") ?? "0ms";
  const latency = parseLatency(latencyText);
  if (latency === undefined) {
    const hint = "Write for example 5ms, uniform:1ms:9ms, normal:5ms:1ms or exponential:5ms; 10min is the most.";
    problems.push({ path: "--latency", message: "is not a latency", value: latencyText, hint });
  }
  const read = {
    plan: {
      latency: latency ?? ({ kind: "constant", ms: 0 } as const),
      errorRatio: number("error-ratio", 0, 1, false),
      responseBytes: number("response-bytes", 0, MAX_RESPONSE_BYTES, true),
    },
    host: flags.text("host") ?? "127.0.0.1",
    httpPort: number("http-port", 8000, MAX_PORT, true),
    grpcPort: number("grpc-port", 8001, MAX_PORT, true),
  };
  if (problems.length > 0) throw new UserError(problems);
  return read;
}

function formatHelp(command: string): string {
  return [
    `Usage: ${command} [flags]`,
    "",
    "Serves Triton's model `simple` (sum and difference of two INT32[16], batches of up to 8) over HTTP and gRPC until Ctrl-C.",
    "",
    formatFlags(FLAGS),
    "",
  ].join("\n");
}
