import { writeFileSync } from "node:fs";
import { echo } from "zx";
import { PARTS, refresh } from "./docs/parts.ts";

/** `npm run docs`: writes the parts of the guides that are made from the source: option lists and the scenario reference. */

for (const part of PARTS) {
  const { path, before, after } = refresh(part);
  if (after !== before) writeFileSync(path, after);
  echo(`${part.guide}: ${part.name} ${after === before ? "is fresh" : "was written"}`);
}
