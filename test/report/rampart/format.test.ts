import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatTable } from "../../../src/report/rampart/format.ts";

const FIGURES = ["11.11 ms", "22.22 ms", "33.33 ms"];

describe("a table", () => {
  test("aligns figures right and text left, and leaves empty columns out", () => {
    const table = formatTable(
      ["n", "what", "", "none"],
      [
        ["1", "a", "", ""],
        ["12", "bc", "", ""],
      ],
    );
    assert.equal(table, [" n  what", "──  ────", " 1  a", "12  bc"].join("\n"));
  });

  test("fits 80 columns: further columns follow below, with the first one in front", () => {
    const names = Array.from({ length: 9 }, (_, index) => `column ${index}`);
    const header = ["concurrency", ...names];
    const table = formatTable(header, [
      ["1", ...names.map(() => "123.4 ms")],
      ["16", ...names.map(() => "5 ms")],
    ]);
    const parts = table.split("\n\n");
    assert.equal(parts.length, 2);
    for (const line of table.split("\n")) assert.ok(line.length <= 80, line);
    for (const part of parts) assert.match(part, /^concurrency /);
    const shown = parts.flatMap((part) => (part.split("\n")[0] ?? "").split(/ {2,}/).slice(1));
    assert.deepEqual(shown, names);
    assert.ok((parts[1] ?? "").split("\n")[0]?.split(/ {2,}/).length === 4, "three columns and the first at least");
  });

  test("wraps text in the last column, word by word", () => {
    const text = "the server closed the connection before any byte of the response came and so on and on";
    const table = formatTable(
      ["failed requests", "count", "for example"],
      [
        ["closed", "3", text],
        ["http 500", "12", "no"],
      ],
    );
    const lines = table.split("\n");
    for (const line of lines) assert.ok(line.length <= 80, line);
    assert.equal(
      lines
        .map((line) => line.slice(24).trim())
        .slice(2, -1)
        .join(" "),
      text,
    );
    assert.match(lines.at(-1) ?? "", /^http 500 +12 {2}no$/);
  });

  test("that cannot be narrower are not cut", () => {
    const long = "x".repeat(100);
    assert.deepEqual(formatTable(["a", "b"], [[long, "1"]]).split("\n\n").length, 1);
    assert.ok(formatTable(["a", "b"], [[long, ...FIGURES]]).includes(long));
  });
});
