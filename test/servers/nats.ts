import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTool } from "./install-tool.ts";
import type { Certificates } from "./tls.ts";

/** A real nats-server on loopback. */

const READY_TIMEOUT_MS = 60_000;

/** Whom the server lets in. */
export interface NatsOptions {
  /** `user`: alice with the password s3cret; `token`: s3cret; otherwise the public key of an NKey, or its own settings. Default: user. */
  readonly login?: "user" | "token" | "nobody-asked" | { readonly nkey: string } | { readonly settings: string };
  /** With TLS, and a client's certificate where that is asked for. */
  readonly tls?: Certificates & { readonly asksClient: boolean };
  /** More arguments, which count more than the other options. */
  readonly args?: readonly string[];
}

/** A running server. */
export interface Nats {
  readonly port: number;
  /** Its address for alice. */
  readonly url: string;
  /** Ends it without a farewell. */
  kill(): Promise<void>;
  /** Starts it again, at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Installs nats-server where it is missing, and starts it. */
export async function startNats(options: NatsOptions = {}): Promise<Nats> {
  installTool("nats-server");
  const folder = await mkdtemp(join(tmpdir(), "rampart-nats-"));
  let port = -1;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    await writeFile(join(folder, "nats.conf"), configuration(options, port, folder));
    const args = ["-c", join(folder, "nats.conf"), ...(options.args ?? [])];
    child = spawn("nats-server", args, { stdio: ["ignore", "ignore", "ignore"] });
    if (port === -1) port = await readPort(folder, child);
    await untilListening(port);
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    port,
    url: `nats://alice:s3cret@127.0.0.1:${port}`,
    kill,
    restart: start,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration({ login = "user", tls }: NatsOptions, port: number, folder: string): string {
  const logins = {
    user: 'authorization { user: "alice", password: "s3cret" }',
    token: 'authorization { token: "s3cret" }',
    "nobody-asked": "",
  };
  const authorization =
    typeof login === "string"
      ? logins[login]
      : "nkey" in login
        ? `authorization { users: [{ nkey: ${login.nkey} }] }`
        : login.settings;
  const files =
    tls &&
    `tls { cert_file: "${tls.certFile}", key_file: "${tls.keyFile}", ca_file: "${tls.caFile}", verify: ${tls.asksClient} }`;
  return [`listen: "127.0.0.1:${port}"`, `ports_file_dir: "${folder}"`, authorization, files ?? "", ""].join("\n");
}

/** The server writes the ports that it got. */
async function readPort(folder: string, child: ChildProcess): Promise<number> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    const text = await readFile(join(folder, `nats-server_${child.pid}.ports`), "utf8").catch(() => "");
    const port = /:(\d+)"/.exec(text)?.[1];
    if (port !== undefined) return Number(port);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nats-server did not start");
}

async function untilListening(port: number): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nats-server does not listen");
}
