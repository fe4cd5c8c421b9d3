import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findPython, installOnce, installPackages } from "./install-once.ts";

/**
 * A server of TensorFlow Serving's gRPC interface. No registry has the real one, so this is `tfserving/server.py` over the official
 * generated code of its messages: 21 MB instead of TensorFlow, installed in 2 s.
 */

const folder = fileURLToPath(new URL("./tfserving/", import.meta.url));
const API = "tensorflow-serving-api==2.21.0";
/** TensorFlow's own messages, and what both packages import. */
const REST = ["tensorflow-protobuf==2.11.0", "grpcio==1.85.1", "protobuf==6.33.6"];

/** Predict calls by outcome. */
export interface PredictCounts {
  readonly ok: number;
  readonly failed: number;
}

/** A running server. */
export interface TfServing {
  readonly port: number;
  /** Its process, whose CPU time the bench reads. */
  readonly pid: number;
  /** Returns the Predict calls of a model since the server started. */
  counts(model: string): Promise<PredictCounts>;
  stop(): Promise<void>;
}

/** Installs what the server needs, and starts it on a free port of loopback. Throws with its output when it does not start. */
export async function startTfServing(): Promise<TfServing> {
  const python = await findPython();
  const installed = await installOnce(`tfserving-${python.version}`, "done", async (draft) => {
    const site = join(draft, "site");
    await installPackages(python, [REST[0] as string], site);
    // It has an older copy of the API.
    rmSync(join(site, "tensorflow_serving"), { recursive: true });
    await installPackages(python, [API, ...REST.slice(1)], site);
    writeFileSync(join(draft, "done"), "");
  });
  const child = spawn(python.command, ["-B", join(folder, "server.py")], {
    env: { ...process.env, PYTHONPATH: join(installed, "site") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const port = await readPort(child, lines);
  let asking: Promise<unknown> = Promise.resolve();
  return {
    port,
    pid: child.pid as number,
    counts: (model) => {
      const asked = asking.then(async () => {
        child.stdin.write("\n");
        const { value = "{}" } = await lines.next();
        const rows = JSON.parse(value as string) as Record<string, PredictCounts>;
        return rows[model] ?? { ok: 0, failed: 0 };
      });
      asking = asked;
      return asked;
    },
    stop: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function readPort(child: ChildProcess, lines: AsyncIterator<string>): Promise<number> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const { value = "" } = await lines.next();
  const port = Number(/^ready (\d+)$/.exec(String(value))?.[1]);
  if (port > 0) return port;
  child.kill("SIGKILL");
  throw new Error(`the server of TensorFlow Serving did not start: ${value}\n${errors}`);
}
