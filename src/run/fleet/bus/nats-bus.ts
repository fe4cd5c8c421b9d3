import {
  type Authenticator,
  connect,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { defined } from "../../../plan/objects.ts";
import type { BusPlan } from "../../../plan/plan.ts";
import { messageOf, RunError, unreadable } from "../../../plan/problem.ts";
import { MOST_SETTINGS_BYTES, readFileBytes } from "../../../runtime/files.ts";
import type { Bus } from "./bus.ts";
import { pack, unpack } from "./pack.ts";
import { openTcpBus } from "./tcp-bus.ts";

const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_WAIT_MS = 200;
/** A connection is reopened when it gives no sign of life for twice this time. */
const PING_MS = 2000;
const DEFAULT_PORT = "4222";

/** A bus with its access control. */
export interface GuardedBus extends Bus {
  /** Whether the bus asks every client for credentials. */
  readonly isGuarded: boolean;
  /** Whether its agents are processes that were started together with the conductor. */
  readonly isOfLaunch: boolean;
}

/**
 * Opens the bus of a plan: a NATS server, or the hub of a launch.
 * @param name shown in a server's monitoring
 * @throws RunError when it cannot be reached or refuses; UserError when a file cannot be read
 */
export async function openBus(plan: BusPlan, name: string): Promise<GuardedBus> {
  if (!plan.url.startsWith("tcp:")) return openNatsBus(plan, name);
  return Object.assign(await openTcpBus(plan.url), { isGuarded: true, isOfLaunch: true });
}

/**
 * Connects to a NATS server, and reconnects when the connection is lost.
 * @param name shown in the server's monitoring
 * @throws RunError when the server cannot be reached or refuses; UserError when a file cannot be read
 */
export async function openNatsBus(plan: BusPlan, name: string): Promise<GuardedBus> {
  const options = { ...optionsOf(plan), name };
  const connection = await connect(options).catch((error: unknown) => {
    const { host } = new URL(firstUrl(plan));
    throw new RunError("unreachable", `the bus at ${host} cannot be used: ${messageOf(error)}`, { say: "check-bus" });
  });
  return new NatsConnectionBus(connection);
}

function firstUrl({ url }: BusPlan): string {
  const [first = ""] = url.split(",");
  return first.trim();
}

function optionsOf(plan: BusPlan): NodeConnectionOptions {
  const servers = plan.url.split(",").map((one) => new URL(one.trim()));
  const [{ username, password, protocol } = new URL("nats://localhost")] = servers;
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const { caFile, certFile, keyFile } = plan;
  const hasTls = protocol === "tls:" || caFile !== undefined || certFile !== undefined;
  const authenticator = authenticatorOf(plan);
  return {
    servers: servers.map(({ hostname, port }) => `${hostname}:${port === "" ? DEFAULT_PORT : port}`),
    ...(user === "" ? {} : pass === "" ? { token: user } : { user, pass }),
    ...defined({ authenticator }),
    ...(hasTls
      ? {
          tls: {
            ...(caFile === undefined ? {} : { ca: read(caFile).toString() }),
            ...(certFile === undefined ? {} : { cert: read(certFile).toString() }),
            ...(keyFile === undefined ? {} : { key: read(keyFile).toString() }),
          },
        }
      : {}),
    timeout: CONNECT_TIMEOUT_MS,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    maxReconnectAttempts: -1,
    pingInterval: PING_MS,
    noEcho: true,
  };
}

function authenticatorOf({ credsFile, nkeyFile }: BusPlan): Authenticator | undefined {
  if (credsFile !== undefined) return credsAuthenticator(read(credsFile));
  if (nkeyFile === undefined) return undefined;
  return nkeyAuthenticator(new TextEncoder().encode(read(nkeyFile).toString().trim()));
}

function read(path: string): Buffer {
  try {
    return readFileBytes(path, MOST_SETTINGS_BYTES);
  } catch (error) {
    throw unreadable(path, error, "Give a file that exists.");
  }
}

class NatsConnectionBus implements GuardedBus {
  isConnected = true;
  readonly isOfLaunch = false;
  private readonly connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.connection = connection;
    void this.follow();
  }

  get mostBytes(): number {
    return this.connection.info?.max_payload ?? 1024 * 1024;
  }

  get isGuarded(): boolean {
    const { info } = this.connection;
    return info?.auth_required === true || info?.tls_verify === true;
  }

  subscribe(subject: string, receive: (message: unknown, reply: string) => void): () => void {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, { data, reply = "" }) => {
        // Without data, the server reports that the subject has no subscription.
        if (error !== null || data.length === 0) return;
        let message: unknown;
        try {
          message = unpack(data);
        } catch {
          // Other programs may use the same subjects.
          return;
        }
        receive(message, reply);
      },
    });
    return () => subscription.unsubscribe();
  }

  publish(subject: string, message: unknown, reply = ""): void {
    if (!this.isConnected || this.connection.isClosed()) return;
    this.connection.publish(subject, pack(message), reply === "" ? {} : { reply });
  }

  createInbox(): string {
    return createInbox();
  }

  async close(): Promise<void> {
    this.isConnected = false;
    await this.connection.close().catch(() => {});
  }

  private async follow(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === "disconnect") this.isConnected = false;
      else if (type === "reconnect") this.isConnected = true;
    }
    this.isConnected = false;
  }
}
