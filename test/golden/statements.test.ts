import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { openPlaces, type Places } from "./statements/places.ts";
import { numberStatements } from "./statements/statement.ts";
import { SECTIONS } from "./statements/table.ts";
import { hasProof, tryStatement } from "./statements/try-statement.ts";
import { readCovered } from "./transcript.ts";

/** The statements of the originals' documents do what the table in README.md says. */

const folder = makeFolder();
let places: Places;

before(async () => {
  places = await openPlaces(folder);
});
after(() => places?.stop());

describe("statements of the documents", () => {
  for (const [id, statement] of numberStatements(SECTIONS))
    test(`${id}: ${statement.says}`, LIMIT, async () => {
      assert.ok(statement.run !== undefined || statement.shownBy !== undefined, "nothing shows it");
      assert.deepEqual(await tryStatement(statement, places), []);
    });
});

test("every test and transcript that a statement names exists", () => {
  const covered = readCovered();
  const missing = numberStatements(SECTIONS).flatMap(([id, { shownBy }]) =>
    shownBy === undefined || hasProof(shownBy, covered) ? [] : [`${id}: ${shownBy}`],
  );
  assert.deepEqual(missing, []);
});
