import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { RunError } from "../../src/plan/problem.ts";
import { NO_TRACE } from "../../src/plan/telemetry.ts";
import type { TraceValues } from "../../src/service/service.ts";
import { describeTrace, setTrace, type TraceAccess, toTraceValues } from "../../src/telemetry/trace-settings.ts";

/** Trace settings: set whole or not at all, and set back. */

const FORMER: TraceValues = {
  trace_level: ["OFF"],
  trace_rate: ["1000"],
  trace_count: ["-1"],
  log_frequency: ["0"],
  trace_file: [""],
  trace_mode: ["triton"],
};

/** A server that refuses some settings, as Triton does: all of what is written, or nothing of it. */
class Server implements TraceAccess {
  settings: TraceValues;
  readonly writes: TraceValues[] = [];
  private readonly refuses: (values: TraceValues) => string | undefined;

  constructor(refuses: (values: TraceValues) => string | undefined = () => undefined, settings = FORMER) {
    this.refuses = refuses;
    this.settings = settings;
  }

  read(): Promise<TraceValues> {
    return Promise.resolve(this.settings);
  }

  write(values: TraceValues): Promise<TraceValues> {
    this.writes.push(values);
    const reason = this.refuses(values);
    if (reason !== undefined) return Promise.reject(new RunError("refused", reason, ""));
    const known = Object.entries(values).filter(([name]) => name in this.settings);
    this.settings = { ...this.settings, ...Object.fromEntries(known) };
    return Promise.resolve(this.settings);
  }
}

const ASKED: TraceValues = { trace_level: ["TIMESTAMPS", "TENSORS"], trace_rate: ["5"] };

test("a plan's settings have their names in the protocol, without those that are not set", () => {
  const values = toTraceValues({ file: "f", levels: ["TENSORS"], rate: 2, count: -1, logFrequency: 0 });
  assert.deepEqual(values, {
    log_frequency: ["0"],
    trace_count: ["-1"],
    trace_file: ["f"],
    trace_level: ["TENSORS"],
    trace_rate: ["2"],
  });
  assert.equal(
    word(describeTrace(values)),
    "telemetry.trace.logFrequency 0, telemetry.trace.count -1, telemetry.trace.file f, telemetry.trace.levels TENSORS, telemetry.trace.rate 2",
  );
  assert.deepEqual(toTraceValues(NO_TRACE), {});
});

test("settings are set together and restored; others are not touched", async () => {
  const server = new Server();
  const restore = await setTrace(ASKED, server);
  assert.deepEqual(server.settings, { ...FORMER, ...ASKED });
  await restore();
  assert.deepEqual(server.settings, FORMER);
  assert.deepEqual(server.writes, [ASKED, { trace_level: ["OFF"], trace_rate: ["1000"] }]);
});

test("a refused setting is named with the server's words, and the others are set back", async () => {
  const server = new Server((values) =>
    values["trace_level"]?.[0] === "TIMESTAMPS" ? "trace file name is not given" : undefined,
  );
  await assert.rejects(setTrace(ASKED, server), (error) => {
    assert.ok(error instanceof RunError);
    assert.equal(error.code, "refused");
    assert.equal(
      error.message,
      "failed to set telemetry.trace.levels TIMESTAMPS,TENSORS: trace file name is not given",
    );
    return true;
  });
  assert.deepEqual(server.settings, FORMER);
});

test("all rejected settings are named, and nothing is restored that was not changed", async () => {
  const server = new Server((values) => {
    if (values["trace_file"] !== undefined) return "location can not be updated";
    return values["trace_rate"]?.[0] === "0" ? "must be non-zero" : undefined;
  });
  const asked = { log_frequency: ["1"], trace_file: ["f"], trace_rate: ["0"] };
  await assert.rejects(setTrace(asked, server), {
    message:
      "failed to set telemetry.trace.file f: location can not be updated; telemetry.trace.rate 0: must be non-zero",
  });
  assert.deepEqual(server.settings, FORMER);
  assert.deepEqual(server.writes.at(-1), { log_frequency: ["0"] });
});

test("settings that are only rejected together are set one after the other", async () => {
  const server = new Server((values) => (Object.keys(values).length > 1 ? "one at a time" : undefined));
  await setTrace(ASKED, server);
  assert.deepEqual(server.settings, { ...FORMER, ...ASKED });
});

test("a setting that the server passes over is refused too", async () => {
  const { log_frequency: _, ...older } = FORMER;
  const server = new Server(undefined, older);
  await assert.rejects(setTrace({ ...ASKED, log_frequency: ["3"] }, server), {
    message: "failed to set telemetry.trace.logFrequency 3: the server has no such setting",
  });
  assert.deepEqual(server.settings, older);
  const stubborn: TraceAccess = { read: async () => FORMER, write: async () => FORMER };
  await assert.rejects(setTrace({ trace_rate: ["5"] }, stubborn), {
    message: "failed to set telemetry.trace.rate 5: the server keeps it at 1000",
  });
});

test("a count that decreases while it is set was not ignored by the server", async () => {
  const server: TraceAccess = {
    read: async () => FORMER,
    write: async (values) => ({ ...FORMER, ...values, trace_count: ["99"] }),
  };
  await setTrace({ trace_count: ["100"] }, server);
});

test("an unreachable server is not a rejected setting", async () => {
  const gone = new RunError("unreachable", "gone", "");
  const write: TraceAccess = { read: async () => FORMER, write: () => Promise.reject(gone) };
  await assert.rejects(setTrace(ASKED, write), (error) => error === gone);
  const read: TraceAccess = { read: () => Promise.reject(gone), write: async () => FORMER };
  await assert.rejects(setTrace(ASKED, read), (error) => error === gone);
});
