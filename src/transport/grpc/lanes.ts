/** How many lanes share a connection, as gRPC's C++ client library shares a channel by default. */
const LANES_PER_CONNECTION = 6;

/** Which connection the slot's lane uses. */
export function lineIndexOf(slot: number, laneCount: number): number {
  return Math.floor((slot % laneCount) / LANES_PER_CONNECTION);
}

/** How many connections so many slots use. */
export function connectionsOf(slotCount: number, laneCount: number): number {
  return Math.ceil(Math.min(slotCount, laneCount) / LANES_PER_CONNECTION);
}
