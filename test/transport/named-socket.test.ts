import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "../../src/runtime/socket.ts";
import { createNamedOpen } from "../../src/transport/named-socket.ts";

/** Connections to a name: its addresses are tried one after the other, and two at once only while one of them is slow. */

/** What an address does: opens, opens after the next one is tried too, never answers, or fails with this code. */
type Behaviour = "open" | "slow" | "silent" | "ECONNREFUSED" | "EADDRNOTAVAIL" | "ENETUNREACH" | "CERT_HAS_EXPIRED";

/** Longer than an address has before the next one is tried. */
const SLOW_MS = 400;

class Network {
  readonly tried: string[] = [];
  readonly targets: SocketTarget[] = [];
  lookups = 0;
  connecting = 0;
  mostConnecting = 0;
  private readonly behaviours: Readonly<Record<string, Behaviour>>;
  readonly open: OpenSocket;

  constructor(behaviours: Readonly<Record<string, Behaviour>>) {
    this.behaviours = behaviours;
    const named = createNamedOpen((host) => {
      this.lookups++;
      if (host === "nowhere") return Promise.reject(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }));
      return Promise.resolve(Object.keys(behaviours));
    });
    this.open = named((target, handlers) => this.connect(target, handlers));
  }

  private connect(target: SocketTarget, handlers: SocketHandlers): Socket {
    this.tried.push(target.host);
    this.targets.push(target);
    this.mostConnecting = Math.max(this.mostConnecting, ++this.connecting);
    const behaviour = this.behaviours[target.host] ?? "open";
    let isClosed = false;
    const end = (error?: Error): void => {
      if (isClosed) return;
      isClosed = true;
      this.connecting--;
      handlers.onClose(error);
    };
    if (behaviour !== "silent")
      setTimeout(
        () => {
          if (isClosed) return;
          if (behaviour !== "open" && behaviour !== "slow")
            end(Object.assign(new Error(behaviour), { code: behaviour }));
          else {
            this.connecting--;
            isClosed = true;
            handlers.onOpen();
          }
        },
        behaviour === "slow" ? SLOW_MS : 1,
      );
    return { write: () => true, close: () => end(), pendingBytes: 0 };
  }
}

/** Opens a connection. Resolves with "open", or with the code of the error that ended it. */
function connect({ open }: Network, host = "name", more: Partial<SocketTarget> = {}): Promise<string | undefined> {
  return new Promise((resolve) => {
    open(
      { host, port: 80, ...more },
      {
        onOpen: () => resolve("open"),
        onData: () => {},
        onClose: (error) => resolve((error as { code?: string } | undefined)?.code),
      },
    );
  });
}

const CASES: readonly (readonly [
  name: string,
  addresses: Readonly<Record<string, Behaviour>>,
  ends: string,
  tried: string[],
  mostConnecting?: number,
])[] = [
  ["uses the first address", { "::1": "open", "127.0.0.1": "open" }, "open", ["::1"]],
  [
    "uses the next one when the first refuses",
    { "::1": "ECONNREFUSED", "127.0.0.1": "open" },
    "open",
    ["::1", "127.0.0.1"],
  ],
  [
    "uses the next one when the first does not answer",
    { "fd::1": "silent", "10.0.0.1": "open" },
    "open",
    ["fd::1", "10.0.0.1"],
    2,
  ],
  [
    "waits for a slow one when the next refuses",
    { "10.0.0.1": "slow", "fd::1": "ECONNREFUSED" },
    "open",
    ["10.0.0.1", "fd::1"],
    2,
  ],
  [
    "waits for a slow one when this host cannot reach the next",
    { "10.0.0.1": "slow", "fd::1": "ENETUNREACH" },
    "open",
    ["10.0.0.1", "fd::1"],
    2,
  ],
  [
    "reports the refusal when all fail",
    { "::1": "EADDRNOTAVAIL", "127.0.0.1": "ECONNREFUSED" },
    "ECONNREFUSED",
    ["::1", "127.0.0.1"],
  ],
  [
    "reports the wrong certificate when nothing listens at another address",
    { "::1": "ECONNREFUSED", "127.0.0.1": "CERT_HAS_EXPIRED" },
    "CERT_HAS_EXPIRED",
    ["::1", "127.0.0.1"],
  ],
];
for (const [name, addresses, ends, tried, mostConnecting = 1] of CASES)
  test(`a connection to a name ${name}`, async () => {
    const network = new Network(addresses);
    assert.equal(await connect(network), ends);
    assert.deepEqual(network.tried, tried);
    assert.equal(network.mostConnecting, mostConnecting);
    assert.equal(network.connecting, 0, "no other one is left");
  });

test("a hundred connections to a name need a hundred sockets, after one lookup", async () => {
  const network = new Network({ "::1": "ECONNREFUSED", "127.0.0.1": "open" });
  assert.equal(await connect(network), "open");
  const opened = await Promise.all(Array.from({ length: 100 }, () => connect(network)));
  assert.ok(opened.every((end) => end === "open"));
  assert.equal(network.tried.length, 2 + 100, "later ones begin with the address that works");
  assert.equal(network.mostConnecting, 100);
  assert.equal(network.lookups, 1);
});

test("an address is used as it is", async () => {
  const network = new Network({});
  await connect(network, "127.0.0.1");
  await connect(network, "::1");
  assert.deepEqual([network.tried, network.lookups], [["127.0.0.1", "::1"], 0]);
});

test("a name without an address fails, and is looked up again by the next connection", async () => {
  const network = new Network({});
  assert.equal(await connect(network, "nowhere"), "ENOTFOUND");
  assert.equal(await connect(network, "nowhere"), "ENOTFOUND");
  assert.equal(network.lookups, 2);
});

test("the certificate is checked against the name", async () => {
  const network = new Network({ "10.0.0.1": "open" });
  await connect(network, "name", { tls: { alpn: [], verifyPeer: true, verifyHost: true } });
  assert.deepEqual([network.targets[0]?.host, network.targets[0]?.tls?.serverName], ["10.0.0.1", "name"]);
});

test("after a connection that was closed while its address did not answer, the next one looks the name up again", async () => {
  const behaviours: Record<string, Behaviour> = { "10.0.0.1": "open" };
  const network = new Network(behaviours);
  assert.equal(await connect(network), "open");
  behaviours["10.0.0.1"] = "silent";
  behaviours["10.0.0.2"] = "open";
  const handlers = { onOpen: () => assert.fail("opened"), onData: () => {}, onClose: () => {} };
  const stuck = network.open({ host: "name", port: 80 }, handlers);
  await new Promise((resolve) => setTimeout(resolve, 5));
  stuck.close();
  assert.equal(await connect(network), "open");
  assert.deepEqual([network.lookups, network.tried.at(-1)], [2, "10.0.0.2"]);
});

test("closing while the name is looked up ends the connection once", async () => {
  const network = new Network({ "10.0.0.1": "open" });
  let closeCount = 0;
  const handlers = { onOpen: () => assert.fail("opened"), onData: () => {}, onClose: () => void closeCount++ };
  network.open({ host: "name", port: 80 }, handlers).close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([closeCount, network.tried], [1, []]);
});
