import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import type { ServerTargetPlan } from "../../../src/registry/service-kinds.ts";
import { reachServers } from "../../../src/run/open/reach-servers.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";

/** Each address of a target is tried before the load. */

test("the error names each address that refuses connections, and only those", async () => {
  const server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const live = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reach = (...urls: string[]) => {
    const plan = toPlan(defineScenario({ name: "x", target: http(urls), load: hold(1) }), "/");
    return reachServers(plan.target as ServerTargetPlan);
  };
  try {
    assert.equal(await reach(live, live), undefined);
    const one = await reach(live, "127.0.0.1:1");
    assert.equal(one?.message, "cannot connect to 127.0.0.1:1 (Connection refused)");
    assert.equal(one?.hint, "Is the server running, and is this its address? 1 of 2 addresses can be reached.");
    const both = await reach("127.0.0.1:1", "127.0.0.1:2");
    assert.match(both?.message ?? "", /127\.0\.0\.1:1 .*, 127\.0\.0\.1:2 /);
  } finally {
    server.close();
  }
});
