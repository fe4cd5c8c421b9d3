import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { listen } from "../servers/listen.ts";
import { runWithReport } from "./command.ts";

/**
 * A server stalls for a second. A schedule with few requests in flight then sends late: the latency from the actual send knows of the stall
 * by those few only, and the latency from the intended send by all that were due.
 */

const STALL_MS = 1000;
/** From the first measured request to the stall. */
const BEGINS_MS = 700;
const PER_SEC = 200;
const SECONDS = 6;
/** Requests that wait for the server in the stall, and again where the machine stops: fewer than a hundredth of all. */
const IN_FLIGHT = 4;

const folder = makeFolder();
/** When the first measured request was reported: on a busy machine, the time before the measurement has any length. */
let measuredMs: number | undefined;
/** When the stall ends. It begins with a request, so that there is one also where the whole machine stops for that time. */
let stallEndMs: number | undefined;
let requestCount = 0;
let lastMs = 0;
let url = "";
const server = createServer((request, response) => {
  const nowMs = performance.now();
  requestCount++;
  lastMs = nowMs;
  if (measuredMs !== undefined && nowMs - measuredMs >= BEGINS_MS) stallEndMs ??= nowMs + STALL_MS;
  const waitMs = Math.max(1, (stallEndMs ?? 0) - nowMs);
  request.resume().on("end", () => setTimeout(() => response.end("ok"), waitMs));
});
before(async () => {
  url = `http://127.0.0.1:${await listen(server)}`;
});
after(() => server.close());

for (const workers of [1, 2])
  test(`${workers} worker${workers > 1 ? "s" : ""}: only the latency from the intended send tells of a stall`, async () => {
    [measuredMs, stallEndMs] = [undefined, undefined];
    requestCount = 0;
    const startMs = performance.now();
    const text = `import { defineScenario, http, rate } from "rampart";
export default defineScenario({
  name: "stall",
  target: http("${url}"),
  load: rate(${PER_SEC}, { concurrencyLimit: ${IN_FLIGHT}, for: "${SECONDS} s" }),
  onRecord: ({ level }) => level?.isWarmup === false && console.error("MEASURED"),
});
`;
    const { report, stderr } = await runWithReport(
      ["run", writeIn(folder, "stall.ts", text), "--workers", String(workers)],
      {
        onStderr: (printed) => {
          if (printed.includes("MEASURED")) measuredMs ??= performance.now();
        },
      },
    );
    const [level] = report.levels;
    const { latencyUs: actual, scheduledLatencyUs: scheduled } = level?.metrics ?? {};
    assert.ok(actual !== undefined && "p99" in actual && scheduled !== undefined && "p99" in scheduled, stderr);
    // A sixth of the requests was due in the stall, those at its beginning a second before its end.
    assert.ok(scheduled.p99 > 0.75 * STALL_MS * 1000, `scheduled p99 ${scheduled.p99} us`);
    assert.ok((scheduled.p90 ?? 0) > 0.25 * STALL_MS * 1000, `scheduled p90 ${scheduled.p90} us`);
    assert.ok(actual.p99 < scheduled.p99 / 3, `p99 ${actual.p99} us, scheduled ${scheduled.p99}`);
    assert.ok((actual.max ?? 0) > 0.9 * STALL_MS * 1000, `longest ${actual.max} us`);
    // What was due in the stall was sent after it, and none was left out.
    assert.equal(report.requests.failed, 0);
    assert.equal(report.requests.sent, requestCount);
    // A busy machine makes the time before the measurement longer and sends the last ones late, and none early.
    const mostDue = 1 + (PER_SEC * (lastMs - startMs)) / 1000;
    const { sent } = report.requests;
    assert.ok(sent > 0.2 * PER_SEC * SECONDS && sent <= mostDue, `${sent} of ${mostDue} sent`);
  });
