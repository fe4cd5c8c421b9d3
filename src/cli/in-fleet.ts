import { EXIT } from "../result/exit-codes.ts";
import { findLaunch } from "../runtime/launch/launcher.ts";
import type { CommandIo } from "./execute.ts";
import type { PlanValues } from "./options/place.ts";

/**
 * Runs a command in a rank of an MPI job, or a task of a step of Slurm, that send one load together: rank 0 measures and reports, and the
 * others send for it. In any other process, runs it unchanged.
 * @param values values of the command's options for its plan
 * @param measure receives these values, including the bus to the other ranks
 * @returns the exit code. For the other ranks it is always 0, because rank 0's code counts
 */
export async function inFleet(
  values: PlanValues,
  io: CommandIo,
  measure: (values: PlanValues) => Promise<number>,
): Promise<number> {
  if (findLaunch() === undefined || values.has("client.bus.url")) return measure(values);
  const { joinLaunchedFleet } = await import("../run/fleet/launched-fleet.ts");
  const place = await joinLaunchedFleet();
  if (place.kind === "alone") return measure(values);
  if (place.kind === "agent") {
    // mpirun and srun pass a signal to all ranks. Rank 0 ends the run, and thereby this process.
    io.onInterrupt(() => {});
    await place.ended;
    return EXIT.passed;
  }
  const ways = Object.entries(place.bus).map(([key, value]) => [`client.bus.${key}`, value] as const);
  try {
    return await measure(new Map([...values, ...ways]));
  } finally {
    await place.close();
  }
}
