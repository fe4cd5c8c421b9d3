import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { lowerThreadPriority } from "../../src/runtime/thread-priority.ts";

/** Lowers its own priority, and reports the system's line about it. */

lowerThreadPriority();
parentPort?.postMessage(readFileSync("/proc/thread-self/stat", "utf8"));
