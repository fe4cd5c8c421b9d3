import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inFolder, rampartCommand, startProcess } from "../rampart-process.ts";

/** A folder that may not be read is named, also below the given one. */

/** Root may read everything unless it gives these rights away. */
const WITHOUT_RIGHTS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"];
const isRoot = process.getuid?.() === 0;
const [program = "", ...flags] = WITHOUT_RIGHTS;
const isBound = process.platform !== "win32" && (!isRoot || spawnSync(program, [...flags, "true"]).status === 0);
const LIMIT = { timeout: 120_000, skip: isBound ? false : "needs setpriv, or another user than root" };

const CSV = "Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p99 latency\n1,100,1,1,500,1000\n";

test("a folder that may not be read is named, also below the given one", LIMIT, async () => {
  await inFolder({ "new.csv": CSV }, async (cwd) => {
    const closed = join(cwd, "runs", "closed");
    await mkdir(closed, { recursive: true });
    await writeFile(join(closed, "base.csv"), CSV);
    await chmod(closed, 0o000);
    try {
      for (const base of ["runs", join("runs", "closed")]) {
        const command = [...(isRoot ? WITHOUT_RIGHTS : []), ...rampartCommand(), "compare", base, "new.csv"];
        const { code, out, err } = await startProcess(command, { cwd }).result;
        assert.equal(code, 64, out + err);
        assert.match(err, /^rampart: (?:\S*\/)?runs\/closed: cannot be read: /m);
        assert.doesNotMatch(out + err, /internal error/i);
      }
    } finally {
      await chmod(closed, 0o700);
    }
  });
});
