import type { BusPlan } from "../../src/plan/plan.ts";
import { startAgent } from "../../src/run/fleet/bus/agent.ts";
import { type NatsOptions, startNats } from "../servers/nats.ts";

/** Runs a command line with agents on a NATS server. @param busOf how an agent gets in */
export async function withAgents(
  count: number,
  options: NatsOptions,
  busOf: (port: number) => BusPlan,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const nats = await startNats(options);
  const events = { ready: () => {}, began: () => {}, ended: () => {} };
  const bus = busOf(nats.port);
  const agents = await Promise.all(Array.from({ length: count }, () => startAgent(bus, events)));
  try {
    await use(bus.url);
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    await nats.stop();
  }
}

/** The usual login. */
export const asAlice = (port: number): BusPlan => ({ url: `nats://alice:s3cret@127.0.0.1:${port}` });
