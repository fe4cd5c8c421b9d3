import type { EmbeddedTargetPlan } from "../../../src/service/embedded/target.ts";
import type { Aim, ConformanceRow } from "../../conformance/row.ts";
import { SLOW_MS } from "../../conformance/row.ts";

/** The embedded target, which the run itself starts. Its faults are drawn, and its statistics say how many there were. */

const OWN = "the run starts the target, which has no such fault";
const CANNOT: ConformanceRow["cannot"] = {
  sequences: "the target has no model that takes sequences",
  "no answer": OWN,
  "a connection closed without an answer": OWN,
  "a connection closed within an answer": OWN,
  "answers of another content type": OWN,
  cancellation: "its statistics count a cancelled request as answered",
  TLS: "the target is reached within the machine, without TLS",
  "several servers": "the run starts one target",
  "Ctrl-C": "no request of the target can be held back for it",
};

const ERROR_RATIO = 0.4;
const MORE_BYTES = 1024 * 1024;

function target({ fault }: Aim, protocol: "http" | "grpc", isStreaming: boolean): EmbeddedTargetPlan {
  return {
    kind: "embedded",
    protocol,
    isStreaming,
    batchSize: 1,
    mock: {
      latency: { kind: "constant", ms: fault === "slow" ? SLOW_MS : 0 },
      errorRatio: fault === "error" ? ERROR_RATIO : 0,
      responseBytes: fault === "large" || fault === "huge" ? MORE_BYTES : 0,
    },
  };
}

const row = (name: string, protocol: "http" | "grpc", isStreaming: boolean): ConformanceRow => ({
  name,
  wire: protocol,
  target: (aim) => target(aim, protocol, isStreaming),
  hasStatistics: true,
  failures: {
    error:
      protocol === "http"
        ? { kind: "http", status: 400 }
        : isStreaming
          ? { kind: "model" }
          : { kind: "grpc", status: 3 },
    huge: { kind: "limit" },
  },
  cannot: { ...CANNOT, "answers beyond the limit": "its statistics count an answer as good that the client refuses" },
});

export const rows: readonly ConformanceRow[] = [
  row("embedded over HTTP", "http", false),
  row("embedded over gRPC", "grpc", false),
  row("embedded over a gRPC stream", "grpc", true),
];
