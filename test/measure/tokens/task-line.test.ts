// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TaskLine } from "../../../src/measure/tokens/task-line.ts";
import type { TokenTask } from "../../../src/measure/tokens/token-thread.ts";
import { sum } from "../../../src/plan/units.ts";

const LIMITS = { mostOnTheWay: 1000, mostHeld: 2000 };

/** A thread that handles tasks when it is told to. */
class SlowThread {
  readonly got: (object & Partial<TokenTask>)[] = [];
  private readonly replies: { readonly size: number; readonly resolve: (value: unknown) => void }[] = [];
  mostBytes = 0;
  failure: Error | undefined;

  readonly call = <R>(task: unknown): Promise<R> => {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const one = task as TokenTask;
    this.got.push(one);
    const size = one.kind === "packed" ? one.packed.numbers.byteLength + one.packed.bytes.byteLength : 0;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.replies.push({ size, resolve });
    this.mostBytes = Math.max(this.mostBytes, sum(this.replies.map((reply) => reply.size)));
    return promise as Promise<R>;
  };
  readonly fail = (error: Error): void => {
    this.failure ??= error;
  };

  /** Handles what it has, and what comes then. */
  async handleAll(): Promise<void> {
    for (let next = this.replies.shift(); next !== undefined; next = this.replies.shift()) {
      next.resolve("done");
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const packedOf = (number: number, size: number): Extract<TokenTask, { kind: "packed" }> => ({
  kind: "packed",
  packed: { numbers: Float64Array.of(number), bytes: new Uint8Array(size).fill(number) },
});

test("tasks arrive in order and whole, and few bytes are on the way, whatever waits in memory or in a file", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constantFrom("cut" as const, "merge" as const)), {
        maxLength: 60,
      }),
      fc.integer({ min: 0, max: 59 }),
      async (steps, pauseAt) => {
        const thread = new SlowThread();
        const line = new TaskLine(thread, LIMITS);
        const replies: Promise<unknown>[] = [];
        const expected: unknown[] = [];
        for (const [index, step] of steps.entries()) {
          if (index === pauseAt) await thread.handleAll();
          if (typeof step === "number") {
            expected.push([index, step]);
            line.pack(packedOf(index, step));
          } else {
            expected.push(step);
            replies.push(line.call({ kind: step }));
          }
        }
        await thread.handleAll();
        assert.deepEqual(await Promise.all(replies), Array(replies.length).fill("done"));
        const got = thread.got.map((task) => {
          if (task.kind !== "packed") return task.kind;
          const { numbers, bytes } = (task as ReturnType<typeof packedOf>).packed;
          assert.ok(bytes.every((byte) => byte === (numbers[0] as number) % 256));
          return [numbers[0], bytes.length];
        });
        assert.deepEqual(got, expected);
        assert.ok(thread.mostBytes <= LIMITS.mostOnTheWay, `${thread.mostBytes}`);
      },
    ),
  );
});

test("a thread that fails ends every call, those that wait too", async () => {
  const thread = new SlowThread();
  const line = new TaskLine(thread, LIMITS);
  for (let number = 0; number < 20; number++) line.pack(packedOf(number, 900));
  const waiting = assert.rejects(line.call({ kind: "merge" }), /it ended/);
  thread.fail(new Error("it ended"));
  await thread.handleAll();
  await waiting;
});

test("responses that can wait nowhere end the measurement with what helps", () => {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = "/nowhere/at/all";
  try {
    const thread = new SlowThread();
    const line = new TaskLine(thread, LIMITS);
    for (let number = 0; number < 5; number++) line.pack(packedOf(number, 900));
    assert.match(thread.failure?.message ?? "", /come faster than their tokens are counted.*\/nowhere\/at\/all/);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
});
