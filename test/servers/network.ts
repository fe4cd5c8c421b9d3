import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { buildGo } from "./build-go.ts";
import { readPorts } from "./read-ports.ts";

/** Hosts in network namespaces of their own, see network/main.go. They need root, and end with this process. */

const READY_TIMEOUT_MS = 60_000;

/** The line from a host to the others. Default: no delay, no loss. */
export interface HostLine {
  /** Time of a packet from the host and to it, without what the other host's line adds. */
  readonly outMs?: number;
  readonly inMs?: number;
  /** Each packet takes up to this much more or less. */
  readonly jitterMs?: number;
  /** Share of packets that are lost, 0 to 1. */
  readonly lossRatio?: number;
}

/** A host. */
export interface NetworkHost {
  readonly address: string;
  /** Program and first arguments that run another program on the host. */
  readonly enter: readonly string[];
}

/** Packets from a host and to it. */
export interface PacketCounts {
  readonly carried: number;
  readonly lost: number;
}

/** Running hosts, by name. */
export interface Network<Name extends string> {
  readonly hosts: Readonly<Record<Name, NetworkHost>>;
  /** Ends the hosts, and returns what went over their lines. End their programs first. */
  stop(): Promise<Readonly<Record<Name, PacketCounts>>>;
}

/** Makes hosts. @throws when namespaces cannot be made: it takes root and /dev/net/tun */
export async function startNetwork<Name extends string>(
  lines: Readonly<Record<Name, HostLine>>,
): Promise<Network<Name>> {
  const names = Object.keys(lines) as Name[];
  const args = names.map((name) => {
    const { outMs = 0, inMs = 0, jitterMs = 0, lossRatio = 0 } = lines[name];
    return `${name}=${[outMs, inMs, jitterMs, lossRatio].join()}`;
  });
  const child = spawn(await buildGo("network"), args, { stdio: ["pipe", "pipe", "inherit"] });
  const made = await readPorts<Record<Name, { readonly address: string; readonly namespace: string }>>(
    child,
    "the network",
    READY_TIMEOUT_MS,
  );
  const hosts: Partial<Record<Name, NetworkHost>> = {};
  for (const name of names)
    hosts[name] = { address: made[name].address, enter: ["nsenter", `--net=${made[name].namespace}`] };
  return {
    hosts: hosts as Record<Name, NetworkHost>,
    stop: async () => {
      const [[line]] = await Promise.all([
        once(createInterface({ input: child.stdout }), "line"),
        once(child, "exit"),
        child.stdin.end(),
      ]);
      return JSON.parse(String(line)) as Record<Name, PacketCounts>;
    },
  };
}

/** Makes hosts, and ends them after `use`, also when it fails. */
export async function withNetwork<Name extends string>(
  lines: Readonly<Record<Name, HostLine>>,
  use: (hosts: Network<Name>["hosts"]) => Promise<void>,
): Promise<Readonly<Record<Name, PacketCounts>>> {
  const network = await startNetwork(lines);
  let counts: Readonly<Record<Name, PacketCounts>> | undefined;
  try {
    await use(network.hosts);
  } finally {
    counts = await network.stop();
  }
  return counts;
}

/** Asks a server on a host, from that host, and returns the body of its response. @param port on loopback there */
export async function askOnHost(host: NetworkHost, port: number, path: string, method = "GET"): Promise<string> {
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${method} ${path} HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
  const { stdout } = await runOnHost(host, ask);
  return stdout.slice(stdout.indexOf("\r\n\r\n") + 4);
}

/** Whether a server on a host listens. */
export async function listensOnHost(host: NetworkHost, port: number): Promise<boolean> {
  return runOnHost(host, `exec 3<>/dev/tcp/${host.address}/${port}`).then(
    () => true,
    () => false,
  );
}

function runOnHost({ enter }: NetworkHost, script: string): Promise<{ readonly stdout: string }> {
  const [program = "", ...args] = [...enter, "bash", "-c", script];
  return promisify(execFile)(program, args, { timeout: READY_TIMEOUT_MS });
}
