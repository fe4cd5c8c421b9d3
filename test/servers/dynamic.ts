import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildGo } from "./build-go.ts";
import { findPython, installOnce, installPackages } from "./install-once.ts";
import { readPorts } from "./read-ports.ts";

/** gRPC servers of ./dynamic/demo.proto, in Go and in Python, for which nobody generated code. */

const READY_TIMEOUT_MS = 120_000;
const folder = fileURLToPath(new URL("./dynamic/", import.meta.url));

/** The servers' `.proto` file. */
export const demoProto = join(folder, "demo.proto");

const packages = ["grpcio==1.85.1", "grpcio-reflection==1.85.1", "protobuf==7.36.2", "typing_extensions==4.16.0"];

/** Calls since the last reset, the messages received and sent, and the calls that the client ended. */
export type DynamicCounter = { calls: number; received: number; sent: number; cancelled: number };

/** A running server of the service `demo.v1.Text`. */
export type DynamicServer = {
  readonly port: number;
  readonly pid: number;
  counter(): Promise<DynamicCounter>;
  reset(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the Go server, building it first when its sources are newer. It has reflection v1 only. */
export async function startGoDynamic(args: readonly string[] = []): Promise<DynamicServer> {
  return start(spawn(await buildGo("dynamic"), args, { stdio: ["pipe", "pipe", "inherit"] }));
}

/** Starts the Python server, installing gRPC first where it is missing. It has reflection v1alpha only. */
export async function startPythonDynamic(): Promise<DynamicServer> {
  const python = await findPython();
  const libraries = await installOnce(`grpcio-1.85.1-${python.version}`, "done", async (draft) => {
    await installPackages(python, packages, draft);
    writeFileSync(join(draft, "done"), "");
  });
  const env = { ...process.env, PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1" };
  return start(spawn(python.command, [join(folder, "server.py")], { stdio: ["pipe", "pipe", "inherit"], env }));
}

async function start(child: ChildProcess): Promise<DynamicServer> {
  const { grpc, control } = await readPorts<{ grpc: number; control: number }>(child, "the server", READY_TIMEOUT_MS);
  const url = `http://127.0.0.1:${control}`;
  const ask = (path: string, method: string): Promise<Response> =>
    fetch(`${url}${path}`, { method, headers: { connection: "close" }, signal: AbortSignal.timeout(60_000) });
  return {
    port: grpc,
    pid: child.pid ?? 0,
    counter: async () => (await (await ask("/counter", "GET")).json()) as DynamicCounter,
    reset: async () => void (await (await ask("/reset", "POST")).arrayBuffer()),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
