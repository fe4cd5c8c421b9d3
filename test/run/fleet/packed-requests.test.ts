import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RecordColumns } from "../../../src/measure/records.ts";
import { type CurrentContent, RequestPacker, RequestReader } from "../../../src/run/fleet/packed-requests.ts";
import { writeRecord } from "../../../src/run/send/ended-requests.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/call.ts";
import type { Failure } from "../../../src/transport/failure.ts";

/** What a conductor reads of single requests is what their sender judged. */

const bytes = fc.uint8Array({ maxLength: 40 });
const times = fc.nat({ max: 1e9 });
const requests = fc.record({
  step: fc.nat({ max: 1000 }),
  sequenceId: fc.nat({ max: 99 }),
  server: fc.nat({ max: 3 }),
  member: fc.nat({ max: 3 }),
  jsonBytes: fc.nat({ max: 40 }),
  resends: fc.constantFrom(0, 1),
  sendNs: times,
  dueNs: fc.option(times),
  lastsNs: fc.integer({ min: 1, max: 1e6 }),
  failure: fc.option(
    fc.constantFrom<Failure>({ kind: "http", status: 503, message: "busy" }, { kind: "closed", message: "" }),
  ),
  body: bytes,
  responses: fc.array(fc.record({ afterNs: fc.nat({ max: 1e6 }), isEmpty: fc.boolean(), body: bytes }), {
    maxLength: 4,
  }),
  session: fc.option(fc.record({ id: fc.string(), content: bytes })),
});

type Given = typeof requests extends fc.Arbitrary<infer T> ? T : never;

/** Sets a slot and its call as they are when the request is judged. */
function begin(given: Given, call: Call, slots: Slots): void {
  slots.intendedNs[call.slot] = given.dueNs ?? Number.NaN;
  slots.steps[call.slot] = given.step;
  slots.sequenceIds[call.slot] = given.sequenceId;
  Object.assign(call, {
    ...{ server: given.server, member: given.member, jsonBytes: given.jsonBytes, resends: given.resends },
    ...{ sendStartNs: given.sendNs, firstByteNs: given.sendNs + 1, endNs: given.sendNs + given.lastsNs },
    responses: given.responses.map(({ afterNs, ...rest }) => ({ ...rest, readNs: given.sendNs + afterNs })),
    body: given.responses.length === 0 ? given.body : undefined,
  });
}

/** What a judge sees of a call. */
function seen(call: Call, slots: Slots, failure: Failure | undefined, content: unknown): object {
  const { sendStartNs, firstByteNs, endNs, server, member, resends, jsonBytes, responses, body, slot } = call;
  const dueNs = slots.intendedNs[slot] as number;
  return {
    ...{ sendStartNs, firstByteNs, endNs, server, member, resends, failure, content },
    place: [slots.steps[slot], slots.sequenceIds[slot], Number.isNaN(dueNs) ? sendStartNs : dueNs],
    responses: failure === undefined ? { jsonBytes, responses, body } : responses.length,
  };
}

for (const hasResponses of [true, false])
  test(`requests ${hasResponses ? "with" : "without"} responses: each comes once, in order, as it was judged`, () => {
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (all, drainAfter) => {
        const sent: object[] = [];
        const read: object[] = [];
        const current: CurrentContent = { content: undefined };
        const finished = { count: 0 };
        const judge = {
          ...{ needsBodies: true, canWait: true },
          judge: (call: Call, slots: Slots): Failure | undefined => {
            finished.count++;
            read.push(structuredClone(seen(call, slots, call.failure, current.content)));
            return call.failure;
          },
        };
        const reader = new RequestReader({ judge, finished, current, hasResponses });
        const packer = new RequestPacker({ hasResponses });
        const columns = new RecordColumns((records, count) => {
          const copied = Object.fromEntries(
            Object.entries(records).flatMap(([name, column]) => (ArrayBuffer.isView(column) ? [[name, column]] : [])),
          );
          reader.read(structuredClone(copied) as unknown as RecordColumns, count, structuredClone(packer.take()));
        });
        const slots = new Slots();
        slots.grow(3);
        for (const [index, given] of all.entries()) {
          const call = new Call(index % 3);
          begin(given, call, slots);
          const failure = given.failure ?? undefined;
          const content = given.session && {
            bytes: given.session.content,
            session: { id: given.session.id, delayMs: 3 },
          };
          packer.add(call, slots, failure, content ?? undefined);
          writeRecord(columns, call, failure, slots);
          if (hasResponses || failure !== undefined) sent.push(seen(call, slots, failure, content ?? undefined));
          if (index % drainAfter === 0) columns.drain();
        }
        columns.drain();
        assert.deepEqual(read, sent);
        assert.equal(finished.count, all.length);
      }),
    );
  });

test("a full batch is passed on before the next request is added, so that memory is bounded", () => {
  const packer = new RequestPacker({ hasResponses: true });
  const call = new Call(0);
  call.body = new Uint8Array(100_000);
  const slots = new Slots();
  slots.grow(1);
  const sizes: number[] = [];
  packer.onFull = () => sizes.push(packer.take().bytes.length);
  for (let index = 0; index < 10; index++) packer.add(call, slots, undefined);
  assert.deepEqual(sizes, [300_000, 300_000, 300_000]);
});
