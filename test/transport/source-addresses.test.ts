import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import { isInUse, SourceTurns } from "../../src/transport/source-addresses.ts";
import { listen } from "../servers/listen.ts";
import { endpointAt, openDriver } from "./drive.ts";

/** The addresses of this host that connections come from, and their ports. */

const FEW = [40_000, 40_003] as const;

test("addresses take turns, each family by itself, and a later sender begins with a later one", () => {
  const turns = new SourceTurns(["10.0.0.1", "::1", "10.0.0.2"], 0, FEW);
  const taken = [1, 2, 3].map(() => turns.next("10.9.9.9")?.address);
  assert.deepEqual(taken, ["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
  assert.equal(turns.next("fd::9")?.address, "::1");
  assert.equal(new SourceTurns(["10.0.0.1", "10.0.0.2"], 3, FEW).next("10.9.9.9")?.address, "10.0.0.2");
  assert.equal(new SourceTurns(["::1"], 0, FEW).next("10.9.9.9"), undefined);
});

test("the ports of an address follow each other from any of them, and all are tried once, then few", () => {
  const turns = new SourceTurns(["10.0.0.1"], 0, FEW, 0.5);
  const ports: (number | undefined)[] = [];
  for (let source = turns.next("10.9.9.9"); source !== undefined; source = turns.after(source)) ports.push(source.port);
  assert.deepEqual(ports, [40_002, 40_003, 40_000, 40_001]);
  const next = turns.next("10.9.9.9");
  assert.deepEqual(next, { address: "10.0.0.1", port: 40_002 });
  if (next !== undefined) turns.opened(next);
  assert.equal(turns.next("10.9.9.9")?.port, 40_003);
});

test("where the system does not report its ports, it chooses them", () => {
  const turns = new SourceTurns(["10.0.0.1"], 0, [0, Number.POSITIVE_INFINITY]);
  assert.deepEqual(turns.next("10.9.9.9"), { address: "10.0.0.1" });
  assert.equal(turns.after({ address: "10.0.0.1" }), undefined);
});

test("only a port that was given can be in use in other words than EADDRINUSE", () => {
  const failed = (code: string): Error => Object.assign(new Error(code), { code });
  assert.ok(isInUse({ address: "a" }, failed("EADDRINUSE")));
  assert.ok(!isInUse({ address: "a" }, failed("EADDRNOTAVAIL")));
  for (const code of ["EADDRINUSE", "EADDRNOTAVAIL", "EINVAL"])
    assert.ok(isInUse({ address: "a", port: 1 }, failed(code)));
  assert.ok(!isInUse({ address: "a", port: 1 }, failed("ECONNREFUSED")));
});

/** All of 127.0.0.0/8 is this host on Linux only. */
const ON_LINUX = { skip: process.platform !== "linux" };

test("the server sees connections from each address", ON_LINUX, async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((socket) => {
    seen.push(socket.remoteAddress);
    socket.on("error", () => {});
  });
  const port = await listen(server);
  const endpoint = { ...endpointAt(port), sources: new SourceTurns(["127.0.0.2", "127.0.0.3", "127.0.0.4"]) };
  const driver = await openDriver((options) => new Http1Client(endpoint, options), 9);
  while (seen.length < 9) await once(server, "connection");
  driver.close();
  server.close();
  assert.deepEqual(Map.groupBy(seen.toSorted(), (one) => one).size, 3);
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    assert.equal(seen.filter((one) => one === address).length, 3, address);
});

/** A network of its own, whose system has ten ports for connections. */
const SETUP = 'ip link set lo up && echo "40000 40009" > /proc/sys/net/ipv4/ip_local_port_range && exec "$@"';
const canIsolate =
  process.platform === "linux" && spawnSync("unshare", ["-n", "sh", "-c", SETUP, "sh", "true"]).status === 0;
const RUNTIMES = { bun: "bun", deno: "deno", node: "node" } as const;

describe("the number of connections is that of ports, servers and source addresses", { skip: !canIsolate }, () => {
  const CASES: readonly (readonly [servers: number, sources: readonly string[], most: number])[] = [
    [1, [], 10],
    [2, [], 20],
    [1, ["127.0.0.5"], 10],
    [2, ["127.0.0.5"], 20],
    [2, ["127.0.0.5", "127.0.0.6"], 40],
  ];
  for (const [servers, sources, most] of CASES)
    test(`${servers} servers and ${sources.length} source addresses: ${most}`, async () => {
      const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
      const runtime = join(root, "node_modules", ".bin", RUNTIMES[runtimeName]);
      const script = join(root, "test", "transport", "fixtures", "port-budget.ts");
      const command = [runtime, ...(runtimeName === "deno" ? ["run", "-A", "--no-check"] : []), script];
      const args = ["-n", "sh", "-c", SETUP, "sh", ...command, String(servers), ...sources];
      const child: ChildProcess = spawn("unshare", args, { stdio: ["ignore", "pipe", "inherit"] });
      let text = "";
      child.stdout?.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
      await once(child, "close");
      const { opened, failures } = JSON.parse(text) as { opened: number; failures: string[] };
      assert.equal(opened, most);
      assert.deepEqual([...new Set(failures)], ["connect: No free port or address of this host to connect from"]);
    });
});
