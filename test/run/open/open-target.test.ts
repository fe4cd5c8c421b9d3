import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import type { RunWarning } from "../../../src/result/observer.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { openTarget } from "../../../src/run/open/open-target.ts";
import type { TargetSession } from "../../../src/run/open/session.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { type KserveOptions, KserveServer } from "../kserve-server.ts";

/** Sets a session up with a plan, and closes it. */
async function setUp(
  change: PlanChange,
  use: (session: TargetSession, warnings: readonly RunWarning[]) => Promise<void> | void,
) {
  const plan = makePlan(change);
  const warnings: RunWarning[] = [];
  const observer = { onWarning: (warning: RunWarning) => warnings.push(warning) };
  const target = await openTarget(plan, { observer, search: prepareLoad(plan.load).search, signal: new RunSignal() });
  try {
    await use(await target.setUp(), warnings);
  } finally {
    assert.deepEqual(await target.close(), []);
  }
}

const onServer = async (options: KserveOptions, use: (server: KserveServer, change: PlanChange) => Promise<void>) => {
  await using server = await new KserveServer(options).start();
  return await use(server, { target: { url: server.url, model: server.model } });
};

test("a session has the server's model, data for it, and its counters", LIMIT, () =>
  onServer({}, (server, change) =>
    setUp(change, async ({ service, dataset, warnings, shared, counters }) => {
      assert.equal(service.model.name, server.model);
      assert.equal(dataset.streams.length, 1);
      assert.deepEqual([[...warnings], shared], [[], undefined]);
      assert.equal((await counters())?.[0]?.name, server.model);
      assert.equal(server.infers.length, 0, "no request was sent");
    }),
  ),
);

test("a server without statistics is reported once", LIMIT, () =>
  onServer({ hasStatistics: false }, (_, change) =>
    setUp(change, async ({ counters }, warnings) => {
      assert.deepEqual([await counters(), await counters()], [undefined, undefined]);
      assert.ok(warnings.filter(({ kind }) => kind === "no-statistics").length <= 1);
    }),
  ),
);

test("a failed query of the statistics is reported once, and an error where the counters are needed", LIMIT, () =>
  onServer({ failsStatistics: true }, async (_, change) => {
    await setUp(change, async ({ counters }, warnings) => {
      assert.deepEqual([await counters(), await counters()], [undefined, undefined]);
      assert.deepEqual(
        warnings.map(({ kind }) => kind),
        ["failed-statistics"],
      );
    });
    await setUp({ ...change, behaviour: { needsCounters: true } }, ({ counters }) =>
      assert.rejects(counters(), /out of order/),
    );
  }),
);

const sequences = makePlan().sequences;
const UNUSED: readonly (readonly [name: string, options: KserveOptions, change: PlanChange, warning: RegExp])[] = [
  [
    "sequences of a model that takes none",
    {},
    { sequences: { ...sequences, length: 5 } },
    /the model takes no sequences/,
  ],
  [
    "a number of sequences under a concurrency",
    { isSequence: true },
    { sequences: { ...sequences, concurrent: 9 } },
    /no effect with a concurrency: each request in flight belongs to a sequence of its own/,
  ],
];
for (const [name, options, change, warning] of UNUSED)
  test(`settings without effect are reported: ${name}`, LIMIT, () =>
    onServer(options, (_, address) =>
      setUp({ ...address, ...change }, ({ warnings }) => {
        assert.equal(warnings.length, 1);
        assert.match(word(warnings[0] ?? ""), warning);
      }),
    ),
  );

test("sequences cannot be shared among servers", LIMIT, () =>
  onServer({ isSequence: true }, async ({ url }, { target }) => {
    const several = setUp({ target: { ...target, moreUrls: [url] } }, () => {});
    await assert.rejects(several, /takes sequences, whose requests must all reach the same server/);
  }),
);

test("several servers have no common counters", LIMIT, () =>
  onServer({}, ({ url }, { target }) =>
    setUp({ target: { ...target, moreUrls: [url] } }, async ({ counters }) => {
      assert.equal(await counters(), undefined);
    }),
  ),
);

test("an unknown model is reported with the server's message", LIMIT, () =>
  onServer({}, async (_, { target }) => {
    await assert.rejects(
      setUp({ target: { ...target, model: "absent" } }, () => {}),
      (error: unknown) => {
        assert.ok(error instanceof RunError);
        assert.deepEqual([error.code, /^failed to get model metadata: /.test(error.message)], ["refused", true]);
        return true;
      },
    );
  }),
);

for (const protocol of ["http", "grpc"] as const)
  test(`a ${protocol} address where nothing listens is unreachable`, LIMIT, async () => {
    const url = `127.0.0.1:${await findDeadPort()}`;
    await assert.rejects(
      setUp({ target: { url, protocol, model: "m" } }, () => {}),
      (error: unknown) => {
        assert.ok(error instanceof RunError);
        assert.equal(error.code, "unreachable");
        assert.ok(
          error.message.includes(url) && word(error.hint).includes(url),
          `${error.message} ${word(error.hint)}`,
        );
        return true;
      },
    );
  });
