#!/usr/bin/env -S rampart run
import { defineScenario, embeddedLlm, errorRate, p50, param, trace } from "rampart";

/** Yesterday's traffic again, at its own times and lengths: `--set speed=2` replays it in half the time. */
export default defineScenario({
  name: "trace replay",
  params: { file: param.text("data/trace.jsonl"), speed: param.number(1) },
  target: embeddedLlm({
    streaming: true,
    timeToFirstToken: "8 ms",
    interTokenLatency: "1 ms",
    tokenizer: "../test/tokenize/fixtures/tiny",
  }),
  load: ({ file, speed }) => trace(file, { speed }),
  assert: [p50("scheduledLatency").below("5 s"), errorRate().is(0)],
});
