// Loaded before a program on Node: a first SIGUSR2 starts a sampled profile of what it allocates, a second one writes it to $HEAP_PROFILE.
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";

const session = new Session();
session.connect();
let isRunning = false;
process.on("SIGUSR2", () => {
  const kept = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  if (!isRunning) session.post("HeapProfiler.startSampling", { samplingInterval: 4096, ...kept });
  else
    session.post("HeapProfiler.stopSampling", (error, result) => {
      if (error !== null) throw error;
      writeFileSync(process.env.HEAP_PROFILE, JSON.stringify(result.profile));
    });
  isRunning = true;
});
