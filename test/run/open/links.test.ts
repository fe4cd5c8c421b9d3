// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Settings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import type { ServerTargetPlan } from "../../../src/registry/service-kinds.ts";
import { serviceKindOf } from "../../../src/registry/service-kinds.ts";
import { connect, toLinks } from "../../../src/run/open/links.ts";
import { makeTarget } from "../../plan/make-plan.ts";

/** The ways to a target's servers. */

function tritonAt(moreUrls: readonly string[]): ServerTargetPlan {
  const base = makeTarget({ url: "localhost:1", tls: DEFAULT_TLS });
  return moreUrls.length === 0 ? base : { ...base, moreUrls: [...moreUrls] };
}

for (const { name, more } of [
  { name: "one server", more: [] },
  { name: "three servers", more: ["localhost:2", "localhost:3"] },
]) {
  test(`a target of ${name} has as many links`, async () => {
    const target = tritonAt(more);
    const { plan } = toPlan(new Settings());
    const links = await connect(
      { ...plan, target },
      { target, address: serviceKindOf(target).address(target), readStreamed: undefined },
    );
    assert.equal(links.serverCount, 1 + more.length);
    assert.equal(links.createClient === links.createControl, more.length === 0);
    assert.equal(links.ready, undefined);
  });
}

test("queries and load of a server that the run starts go through its own client, and it is ended with the run", async () => {
  let isClosed = false;
  const createClient = (): never => {
    throw new Error("not called here");
  };
  const close = async (): Promise<void> => {
    isClosed = true;
  };
  const links = toLinks({ ready: Promise.resolve(["slow start"]), createClient, close });
  assert.equal(links.createClient, links.createControl);
  assert.equal(links.serverCount, 1);
  assert.deepEqual(await links.ready, ["slow start"]);
  await links.close?.();
  assert.ok(isClosed);
});
