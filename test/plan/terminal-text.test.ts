import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeControls } from "../../src/plan/terminal-text.ts";

test("control characters are shown as escapes of JSON, and plain text is left as it is", () => {
  const cases: readonly (readonly [text: string, shown: string])[] = [
    ["\u001b[2J\u001b]0;title\u0007", "\\u001b[2J\\u001b]0;title\\u0007"],
    ["\u009b31m\u0085", "\\u009b31m\\u0085"],
    [
      "abc\u202etxt.exe\u202c \u2066x\u2069 \u200e\u200f\u061c",
      "abc\\u202etxt.exe\\u202c \\u2066x\\u2069 \\u200e\\u200f\\u061c",
    ],
    ["100%\rfine", "100%\\u000dfine"],
    ["a\u0000b\bc\u007f\u2028", "a\\u0000b\\u0008c\\u007f\\u2028"],
    ["lines\n\tand\r\nmore", "lines\n\tand\r\nmore"],
    ["Zürich, 日本語, 😀, ├─┤, \u00a0", "Zürich, 日本語, 😀, ├─┤, \u00a0"],
  ];
  for (const [text, shown] of cases) assert.equal(escapeControls(text), shown);
  const json = { text: "\u009b\u202e\u001b\r" };
  assert.deepEqual(JSON.parse(escapeControls(JSON.stringify(json))), json);
});
