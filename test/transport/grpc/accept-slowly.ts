import type { ScriptedConnection } from "../http2/scripted-server.ts";
import { frame, TYPE, words } from "../http2/write-frames.ts";

/** Accepts what is sent on stream 1 beyond the first window in parts of 1000 bytes, 200 ms apart, and then waits before it answers. */
export async function acceptSlowly(connection: ScriptedConnection, parts: number): Promise<void> {
  for (let part = 0; part <= parts; part++) {
    await connection.raw.until(() => connection.dataOf(1).length === 65_535 + part * 1000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    connection.write(frame(TYPE.windowUpdate, 0, 1, words(1000)), frame(TYPE.windowUpdate, 0, 0, words(1000)));
  }
  // The response takes its time too, during which the client looks at the server several times.
  await new Promise((resolve) => setTimeout(resolve, 1100));
}
