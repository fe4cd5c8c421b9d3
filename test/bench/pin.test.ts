import assert from "node:assert/strict";
import { test } from "node:test";
import { countInterrupts, parseCores } from "./pin.ts";

test("lists of cores", () => {
  assert.deepEqual(parseCores("0-2,5"), [0, 1, 2, 5]);
  assert.deepEqual(parseCores(""), []);
});

test("interrupts of devices are counted by core, the processor's own are not", () => {
  const text = `           CPU0       CPU2
  24:         12          0  IO-APIC   5-edge      ACPI:Ged
  36:          3    1707876  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 LOC:   33776429   31703254   Local timer interrupts
 ERR:          0
`;
  assert.deepEqual(
    [...countInterrupts(text)],
    [
      [0, 15],
      [2, 1707876],
    ],
  );
  assert.deepEqual([...countInterrupts("")], []);
});
