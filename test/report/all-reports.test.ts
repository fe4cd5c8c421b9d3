import assert from "node:assert/strict";
import { test } from "node:test";
import { errorRate, goodput, p90, p99, throughput } from "../../src/scenario/assertions.ts";
import { hold, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { phase, warmup } from "../../src/scenario/loads/phases.ts";
import { rateSteps } from "../../src/scenario/loads/rates.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { mix } from "../../src/scenario/mix.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { checkAllReports } from "./check-all-reports.ts";
import { type Written, writeReports } from "./html/make-report.ts";

/** All reports of one run, of loads that have everything at once: no two numbers contradict each other. */

const STREAM = {
  streaming: true,
  timeToFirstToken: "4 ms",
  interTokenLatency: "1 ms",
  tokenizer: TINY,
  errorRate: "5 %",
} as const;
const MIX = mix([
  { name: "chat", target: embeddedLlm(STREAM), inputs: prompts({ isl: 12, osl: 5, count: 4 }), weight: 1 },
  { name: "tensors", target: embedded({ latency: "1 ms", errorRate: "2 %" }), weight: 2 },
]);
const tags = ({ index }: { readonly index: number }): object => ({ size: index % 2 === 0 ? "small" : "large" });
/** Windows that agree whatever the machine does meanwhile: a level that does not is in no CSV. */
const stability = { window: "70 ms", within: "1000000 %" } as const;

const SCENARIOS: readonly (readonly [name: string, scenario: object])[] = [
  [
    "phases of a mix with tags and tokens",
    {
      name: "phases",
      target: MIX,
      tags,
      load: [
        warmup("100 ms", hold(2)),
        ramp(1, 4, { over: "200 ms" }),
        phase("busy", hold(4, { for: "250 ms" })),
        phase("evening", rateSteps([100, 50], { for: "200 ms" })),
        phase("stable", hold(2)),
      ],
      stability,
      assert: [
        p99("latency").below("10 s"),
        goodput({ latency: "1 s" }).where({ target: "chat" }).atLeast(0),
        throughput().above(0),
      ],
    },
  ],
  [
    "a search in a mix with tags",
    {
      name: "search",
      target: MIX,
      tags,
      load: findMax({
        range: ramp(1, 4),
        where: [p90("latency").below("5 s"), errorRate().below("90 %")],
        window: "100 ms",
        settle: "20 ms",
        forAtMost: "200 ms",
      }),
    },
  ],
  [
    "windows until they agree, with a warm-up",
    {
      name: "windows",
      target: embeddedLlm(STREAM),
      inputs: prompts({ isl: 12, osl: 5, count: 4 }),
      load: steps([1, 3]),
      warmupRequests: 10,
      stability,
      tags,
      assert: [goodput({ timeToFirstToken: "1 s" }).atLeast(0)],
    },
  ],
  [
    "repeated runs of a rate",
    { name: "repeated", target: MIX, tags, load: rateSteps([100, 200], { for: "200 ms" }), repeat: 2 },
  ],
];

for (const [name, scenario] of SCENARIOS)
  test(`no two reports contradict each other: ${name}`, LIMIT, async () => {
    using written = await writeReports(scenario);
    const runs = checkAllReports(written);
    // A run that a busy machine ends has its error instead.
    for (const { levels, error, failures } of runs)
      assert.ok(levels.length > 0 || error !== undefined, JSON.stringify(failures));
  });

test("records of a mix have the model of their target", LIMIT, async () => {
  using written = await writeReports({ name: "models", target: MIX, load: hold(2, { requests: 12 }) });
  const models = recordsOf(written).map(({ metadata: { model, tags: { target = "" } = {} } }) => `${target} ${model}`);
  assert.deepEqual([...new Set(models)].toSorted(), ["chat mock-llm", "tensors simple"]);
});

test("records outside of measured windows have a window of no level, or none", LIMIT, async () => {
  using written = await writeReports({
    name: "windows",
    target: embedded({ latency: "1 ms" }),
    load: hold(2),
    warmupFor: "50 ms",
    stability,
  });
  const [
    {
      levels: [level],
    } = { levels: [] },
  ] = checkAllReports(written);
  const warm = recordsOf(written).filter(({ metadata }) => metadata.benchmark_phase === "warmup");
  assert.ok(warm.length > 0 && warm.every(({ metadata }) => metadata.window === undefined));
  assert.ok(recordsOf(written).length > (level?.completed ?? 0));
});

test("conversations have a table in the console, in Markdown and on the page", LIMIT, async () => {
  using written = await writeReports({
    name: "conversations",
    target: embeddedLlm({ ...STREAM, errorRate: "15 %" }),
    inputs: prompts({ isl: 12, osl: 5, sessions: { count: 12, turns: 3 } }),
    load: sessions(4),
    tags,
  });
  const [run] = checkAllReports(written);
  const { sessions: counts, requests } = run as { readonly sessions: Counts; readonly requests: { sent: number } };
  // Every turn was sent, or its conversation ended before.
  assert.deepEqual([counts.sessionCount, requests.sent + counts.unsentCount], [12, 36]);
  assert.ok(written.read("html").includes(`<p>12 conversations`));
  assert.match(written.read("markdown"), /^- 12 conversations/m);
  assert.match(written.console, /^12 conversations/m);
  if (counts.cutCount > 0)
    assert.ok(written.console.includes(`12 conversations, ${counts.cutCount} of them cut short`), written.console);
});

interface Counts {
  readonly sessionCount: number;
  readonly cutCount: number;
  readonly unsentCount: number;
}

interface Metadata {
  readonly model?: string;
  readonly window?: number;
  readonly benchmark_phase: string;
  readonly tags?: { readonly target?: string };
}

function recordsOf(written: Written): { readonly metadata: Metadata }[] {
  return written
    .read("records")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly metadata: Metadata });
}
