import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTool } from "./install-tool.ts";
import { listensOnHost, type NetworkHost } from "./network.ts";
import type { Certificates } from "./tls.ts";

/** A real nats-server on loopback, or on a host in a network namespace. */

const READY_TIMEOUT_MS = 60_000;

/** Whom the server lets in. */
export interface NatsOptions {
  /** `user`: alice with the password s3cret; `token`: s3cret; otherwise the public key of an NKey, or its own settings. Default: user. */
  readonly login?: "user" | "token" | "nobody-asked" | { readonly nkey: string } | { readonly settings: string };
  /** With TLS, and a client's certificate where that is asked for. */
  readonly tls?: Certificates & { readonly asksClient: boolean };
  /** More arguments, which count more than the other options. */
  readonly args?: readonly string[];
  /** The host that it runs on, and at whose address it listens. Default: this one, on loopback. */
  readonly on?: NetworkHost;
}

/** A running server. */
export interface Nats extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
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
    const enter = [...(options.on?.enter ?? []), "nats-server", "-c", join(folder, "nats.conf")];
    const [program = "", ...args] = [...enter, ...(options.args ?? [])];
    child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore"] });
    if (port === -1) port = await readPort(folder, child);
    await untilListening(port, options.on);
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  await start();
  return {
    port,
    get pid() {
      return child?.pid ?? -1;
    },
    url: `nats://alice:s3cret@${addressOf(options)}:${port}`,
    kill,
    restart: start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const addressOf = ({ on }: NatsOptions): string => on?.address ?? "127.0.0.1";

function configuration(options: NatsOptions, port: number, folder: string): string {
  const { login = "user", tls } = options;
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
  return [
    `listen: "${addressOf(options)}:${port}"`,
    `ports_file_dir: "${folder}"`,
    authorization,
    files ?? "",
    "",
  ].join("\n");
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

async function untilListening(port: number, on: NetworkHost | undefined): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    if (await (on === undefined ? listensHere(port) : listensOnHost(on, port))) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nats-server does not listen");
}

async function listensHere(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}
