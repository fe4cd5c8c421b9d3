import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readPayloadLists } from "../../src/inputs/payload-list.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { rehearse } from "../../src/run/rehearsal.ts";
import type { Session } from "../../src/run/target/session.ts";
import { createPayloadCodec } from "../../src/service/openai/codec.ts";
import { openAiKind } from "../../src/service/openai/kind.ts";

/** A session whose codec counts what it is asked. */
async function openSession(
  isStreaming: boolean,
): Promise<{ session: Session; asked: { encoded: number; decoded: number } }> {
  const folder = await mkdtemp(join(tmpdir(), "rampart-rehearsal-"));
  try {
    const path = join(folder, "inputs.json");
    await writeFile(path, '{"data":[{"payload":[{"model":"m"}]},{"payload":[{"model":"n"}]}]}');
    const dataset = await readPayloadLists([path], "in-turn");
    const base = { kind: "openai", protocol: "http", batchSize: 1, tls: DEFAULT_TLS, model: "m" } as const;
    const front = await openAiKind.open({
      ...base,
      url: "127.0.0.1:1",
      endpoint: "v1/chat/completions",
      isStreaming,
      headers: [],
    });
    const service = await front.setUp(async () => {
      throw new Error("nothing may be asked");
    });
    const codec = createPayloadCodec("v1/chat/completions", isStreaming);
    const asked = { encoded: 0, decoded: 0 };
    const counting = {
      ...codec,
      encode: (...args: Parameters<typeof codec.encode>) => {
        asked.encoded++;
        return codec.encode(...args);
      },
      decode: (...args: Parameters<typeof codec.decode>) => {
        asked.decoded++;
        return codec.decode(...args);
      },
    };
    const session = {
      service: { ...service, codec: counting },
      dataset,
      warnings: [],
      shared: undefined,
      counters: async () => undefined,
    };
    return { session, asked };
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const isStreaming of [true, false])
  test(`a rehearsal reads ${isStreaming ? "streams" : "whole answers"} and reaches no server`, async () => {
    const { session, asked } = await openSession(isStreaming);
    // Nothing listens at the target's address, and the name the rehearsal has for it is none.
    await rehearse(session, isStreaming);
    assert.equal(asked.encoded, 1);
    // Each stream has twelve events with text, and one that says that it is over.
    assert.equal(asked.decoded, isStreaming ? 1200 * 13 : 1200);
  });
