import { EXIT } from "../result/exit-codes.ts";
import { findLaunch } from "../runtime/launch/launcher.ts";
import type { CommandIo } from "./execute.ts";
import type { PlanValues } from "./options/place.ts";

/**
 * Runs a command in a rank of an MPI job, or a task of a step of Slurm, that send one load together: rank 0 measures and reports, and the
 * others send for it. In any other process, runs it as it is.
 * @param values what the command's options put into its plan
 * @param measure gets these, with the way to the other ranks
 * @returns the exit code; that of the other ranks is always 0, because rank 0's counts
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
    // mpirun and srun pass a signal to all ranks. Rank 0 ends the run, and then this one.
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
