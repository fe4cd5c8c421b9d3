// A process with many agents: bun hold-agents.ts URL COUNT. Each has a connection to the bus, a link and a sender of its own; only the thread is
// that of all of them. Says READY when all wait for runs, and ends with its standard input.
import { MessageChannel } from "node:worker_threads";
import { startAgent } from "../../../src/run/fleet/bus/agent.ts";
import type { Seat, SeatListener } from "../../../src/run/fleet/seat.ts";
import {
  type SeatTask,
  serveSenderThread,
  type ThreadEvent,
  type ThreadReady,
} from "../../../src/run/fleet/sender-thread.ts";

const [url = "", count = "1"] = process.argv.slice(2);
const events = { ready: () => {}, began: () => {}, ended: () => {} };

function openSeat(listener: SeatListener): Seat {
  const { port1, port2 } = new MessageChannel();
  port1.on("message", (event: ThreadEvent | ThreadReady) => {
    if (event.kind !== "ready") listener.event(event);
  });
  serveSenderThread(port2, () => import("../../../src/index.ts"));
  return {
    name: "a sender",
    post: (task: SeatTask) => port1.postMessage(task),
    end: async () => port1.close(),
  };
}

// Each is of a host of its own: agents of one host would share its memory, and each would count that of this process as its own.
const agents = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    startAgent({ url }, events, openSeat, `host-${process.pid}-${index}/1`),
  ),
);
console.log("READY");
process.stdin.on("end", async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  process.exit(0);
});
process.stdin.resume();
