import type { Text } from "../../plan/messages.ts";
import { messageOf } from "../../plan/problem.ts";
import { isMpiRank, openMpi } from "../../runtime/launch/mpi.ts";
import { MpiPeers } from "./mpi-peers.ts";
import { ALONE, type Peers } from "./peers.ts";

/**
 * Joins the other processes of the measurement: the other ranks of an MPI job. Call once in a process.
 * @param isMpi whether the plan requests it
 * @param print prints a line for the user
 */
export async function joinPeers(isMpi: boolean, print: (line: Text) => void): Promise<Peers> {
  if (!isMpi) return ALONE;
  if (!isMpiRank()) {
    print(["rampart: ", { say: "no-mpirun" }]);
    return ALONE;
  }
  try {
    return new MpiPeers(await openMpi(), print);
  } catch (error) {
    print(["rampart: ", { say: "no-mpi", why: messageOf(error) }]);
    return ALONE;
  }
}
