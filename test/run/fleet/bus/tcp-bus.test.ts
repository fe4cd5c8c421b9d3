// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { RunError } from "../../../../src/plan/problem.ts";
import { openTcpBus, openTcpHub, type TcpHub } from "../../../../src/run/fleet/bus/tcp-bus.ts";
import { LIMIT } from "../../../time-limit.ts";

/** The bus of a launcher's processes. */

async function withHub(use: (hub: TcpHub, url: string) => Promise<void>): Promise<void> {
  const hub = await openTcpHub();
  try {
    await use(hub, `tcp://${hub.token}@127.0.0.1:${hub.port}`);
  } finally {
    hub.close();
  }
}

test("a message reaches all that listen to its subject but its sender, and replies come back", LIMIT, async () => {
  await withHub(async (_, url) => {
    const [one, two, three] = await Promise.all([openTcpBus(url), openTcpBus(url), openTcpBus(url)]);
    const heard: unknown[] = [];
    const big = new Float64Array(300_000).fill(Number.NaN);
    const replied = Promise.withResolvers<unknown>();
    const inbox = one.createInbox();
    one.subscribe(inbox, replied.resolve);
    one.subscribe("a", () => heard.push("its sender"));
    const end = two.subscribe("a", (message, reply) => {
      heard.push(message);
      two.publish(reply, { big, none: undefined });
    });
    three.subscribe("b", () => heard.push("another subject"));
    // A message that others have passed on says that the hub knows of the subscriptions before it.
    const settled = Promise.withResolvers<unknown>();
    one.subscribe("ready", settled.resolve);
    const timer = setInterval(() => two.publish("ready", true), 5);
    await settled.promise;
    clearInterval(timer);
    one.publish("a", { count: 1 }, inbox);
    assert.deepEqual(await replied.promise, { big, none: undefined });
    assert.deepEqual(heard, [{ count: 1 }]);
    end();
    await Promise.all([one, two, three].map((bus) => bus.close()));
    assert.deepEqual([one.isConnected, two.isConnected], [false, false]);
  });
});

test(
  "whoever has another token, none, or another language is closed, and the others do not notice",
  LIMIT,
  async () => {
    await withHub(async ({ port, token }, url) => {
      const bus = await openTcpBus(url);
      await assert.rejects(openTcpBus(`tcp://${"0".repeat(token.length)}@127.0.0.1:${port}`), (error) => {
        assert.ok(error instanceof RunError);
        assert.match(error.message, /cannot be reached at 127\.0\.0\.1:\d+: it refused the token/);
        return true;
      });
      for (const text of ["GET / HTTP/1.1\r\n\r\n", "\0\0\0\u0004abcd"]) {
        const socket = connect(port, "127.0.0.1");
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.on("error", () => {});
        socket.resume();
        socket.write(text);
        await closed;
      }
      assert.equal(bus.isConnected, true);
      await bus.close();
    });
  },
);

test("a hub says when enough have joined, and those that have left count", LIMIT, async () => {
  await withHub(async (hub, url) => {
    const seen: string[] = [];
    const joined = hub.joined(2).then(() => seen.push("joined"));
    await (await openTcpBus(url)).close();
    seen.push("one");
    const bus = await openTcpBus(url);
    await joined;
    assert.deepEqual(seen, ["one", "joined"]);
    await hub.joined(2);
    await bus.close();
  });
});

test("a hub that is gone ends its clients, and one that is not there is one error", LIMIT, async () => {
  let address = "";
  await withHub(async (hub, url) => {
    address = url;
    const bus = await openTcpBus(url);
    hub.close();
    await bus.ended;
    assert.equal(bus.isConnected, false);
    bus.publish("a", 1);
    await bus.close();
  });
  await assert.rejects(openTcpBus(address), /cannot be reached at .*refused/i);
});
