#!/usr/bin/env -S rampart run
import { createServer } from "node:http";
import { defineScenario, errorRate, http, p90, param, steps } from "rampart";

/** The server of this scenario works on four requests at a time, 5 ms each, and lets the others wait: it has a knee at four users. */
const PLACES = 4;
const WORK_MS = 5;

async function serve() {
  const waiting: (() => void)[] = [];
  let busy = 0;
  const work = (answer: () => void): void => {
    busy++;
    setTimeout(() => {
      busy--;
      answer();
      const next = waiting.shift();
      if (next !== undefined) work(next);
    }, WORK_MS);
  };
  const server = createServer((_request: unknown, response: { end(body: string): void }) => {
    const answer = (): void => response.end("done");
    if (busy < PLACES) work(answer);
    else waiting.push(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `127.0.0.1:${port}`, close: () => server.close() };
}

export default defineScenario({
  name: "knee",
  params: { time: param.duration("2 s") },
  setup: serve,
  teardown: ({ started }) => {
    started?.close();
  },
  target: (_params, { url }) => http(url),
  load: ({ time }) => steps([1, 2, 4, 8, 16], { for: time }),
  warmupRequests: 20,
  assert: [p90("latency").below("50 ms"), errorRate().is(0)],
});
