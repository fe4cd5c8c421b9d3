import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OpenStreams } from "../../../src/transport/http2/open-streams.ts";
import { Stream, type StreamSink } from "../../../src/transport/http2/stream.ts";

const sink: StreamSink = { onHeaders: () => {}, onData: () => {}, onFailed: () => {} };

describe("open streams", () => {
  // The truth is a Map. Some streams stay open while thousands of others come and go, as a long call beside short ones does.
  it("hold what a map of the same ids holds, whatever ends when", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (const limit of [1, 3, 64, 500]) {
      const [streams, truth] = [new OpenStreams(), new Map<number, Stream>()];
      let id = 1;
      for (let step = 0; step < 5000; step++) {
        if (truth.size < limit && random(2) === 0) {
          const stream = new Stream(sink);
          stream.open(id, 0);
          id += 2;
          streams.add(stream);
          truth.set(stream.id, stream);
        }
        const ids = [...truth.keys()];
        // The first one never ends.
        const ended = ids[1 + random(ids.length)];
        if (ended !== undefined && random(2) === 0) assert.equal(streams.delete(ended), truth.delete(ended));
        const unknown = 1 + 2 * random(id);
        assert.equal(streams.get(unknown), truth.get(unknown));
        if (!truth.has(unknown)) assert.equal(streams.delete(unknown), false);
        assert.equal(streams.size, truth.size);
      }
      assert.deepEqual(streams.values(), [...truth.values()]);
      streams.clear();
      assert.deepEqual([streams.size, streams.values()], [0, []]);
    }
  });
});
