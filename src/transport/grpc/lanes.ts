/** Number of users that share a channel in gRPC's C++ client library by default. */
export const LANES_PER_CONNECTION = 6;

/** Returns the index of the connection that the slot's lane uses. */
export function channelIndexOf(slot: number, laneCount: number): number {
  return Math.floor((slot % laneCount) / LANES_PER_CONNECTION);
}
