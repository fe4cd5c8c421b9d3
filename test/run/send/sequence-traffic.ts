import assert from "node:assert/strict";

/** Checks of recorded traffic: what a server with sequences must never see. */

/** A request as a server saw it, in the order of arrival. */
export interface SequenceRequest {
  readonly id: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** What the traffic shows besides being sound. */
export interface TrafficSummary {
  /** Sequences that were begun (and ended). */
  readonly sequenceCount: number;
  /** Most sequences open at once. */
  readonly maxOpen: number;
  /** Requests of each sequence, in the order of their ends. */
  readonly lengths: readonly number[];
}

/** Fails when a sequence is broken, begun twice, or left open. */
export function checkSequences(traffic: readonly SequenceRequest[]): TrafficSummary {
  const open = new Map<number, number>();
  const lengths: number[] = [];
  let maxOpen = 0;
  for (const [index, { id, isStart, isEnd }] of traffic.entries()) {
    const where = `request ${index} of sequence ${id}`;
    assert.ok(id >= 1, `${where} has no id`);
    assert.equal(open.has(id), !isStart, `${where} ${isStart ? "begins a sequence that is open" : "has no beginning"}`);
    open.set(id, (open.get(id) ?? 0) + 1);
    maxOpen = Math.max(maxOpen, open.size);
    if (!isEnd) continue;
    lengths.push(open.get(id) as number);
    open.delete(id);
  }
  assert.deepEqual([...open.keys()], [], "sequences were left open");
  return { sequenceCount: lengths.length, maxOpen, lengths };
}
