import { Worker } from "node:worker_threads";

/** Ways in which a thread is not there after all: how to start it, and what must be told. */
export const FAILING_WORKERS: readonly (readonly [what: string, start: () => Worker, reason: RegExp])[] = [
  [
    "cannot be made",
    () => {
      throw new Error("no threads here");
    },
    /no threads here/,
  ],
  ["throws", () => new Worker("throw new Error('broken thread')", { eval: true }), /broken thread/],
  ["ends at once", () => new Worker("process.exit(0)", { eval: true }), /it ended/],
];
