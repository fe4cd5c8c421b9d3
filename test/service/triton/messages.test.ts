import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageSpec } from "../../../src/service/protobuf/message.ts";
import * as messages from "../../../src/service/triton/messages.ts";

test("every message has its fields in ascending order, in which they are encoded and printed", () => {
  const seen = new Set<MessageSpec>();
  const visit = (spec: MessageSpec): void => {
    if (seen.has(spec)) return;
    seen.add(spec);
    const numbers = spec.inOrder.map(({ number }) => number);
    const names = spec.inOrder.map(({ name }) => name).join(" ");
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      names,
    );
    for (const { type } of spec.inOrder) if (type instanceof MessageSpec) visit(type);
  };
  for (const spec of Object.values(messages)) visit(spec);
  assert.ok(seen.size > 40, `${seen.size} messages`);
});
