/** gRPC's C++ client library lets this many users share a channel by default. */
const LANES_PER_CONNECTION = 6;

/** Returns the index of the connection that the slot's lane uses. */
export function channelIndexOf(slot: number, laneCount: number): number {
  return Math.floor((slot % laneCount) / LANES_PER_CONNECTION);
}

/** Returns the number of connections that this many slots use. */
export function connectionsOf(slotCount: number, laneCount: number): number {
  return Math.ceil(Math.min(slotCount, laneCount) / LANES_PER_CONNECTION);
}
