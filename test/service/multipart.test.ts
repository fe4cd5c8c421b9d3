import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { chooseBoundary, encodeForm, type FormPart } from "../../src/service/multipart.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (encoded: Uint8Array): string => new TextDecoder().decode(encoded);

describe("a form", () => {
  test("has each part after its boundary, and ends with the boundary's end", () => {
    const body = encodeForm([
      { name: "data", bytes: bytes("one") },
      { name: "photo", fileName: "a.png", contentType: "image/png", bytes: bytes("two") },
    ]);
    const boundary = body.contentType.replace("multipart/form-data; boundary=", "");
    assert.match(boundary, /^-{24}[0-9a-f]{16}$/);
    assert.deepEqual(text(body.bytes).split("\r\n"), [
      `--${boundary}`,
      'Content-Disposition: form-data; name="data"',
      "",
      "one",
      `--${boundary}`,
      'Content-Disposition: form-data; name="photo"; filename="a.png"',
      "Content-Type: image/png",
      "",
      "two",
      `--${boundary}--`,
      "",
    ]);
  });

  test("is the same for the same parts", () => {
    const parts = [{ name: "data", bytes: bytes("x") }];
    assert.deepEqual(encodeForm(parts), encodeForm(parts));
  });

  test("takes another boundary where a part has the first ones", () => {
    const first = chooseBoundary([]);
    const second = chooseBoundary([{ name: "data", bytes: bytes(`a${first}b`) }]);
    assert.notEqual(second, first);
    const part = { name: "data", bytes: bytes(`${first}\r\n--${second}--\r\n`) };
    const third = chooseBoundary([part]);
    assert.equal(text(part.bytes).includes(third), false);
    assert.ok(encodeForm([part]).contentType.endsWith(third));
  });

  test("keeps quotes and line breaks out of its heads", () => {
    const body = encodeForm([{ name: 'a"b\r\nX: y', fileName: "c\nd", bytes: bytes("") }]);
    assert.match(text(body.bytes), /name="a%22b%0D%0AX: y"; filename="c%0Ad"\r\n\r\n\r\n--/);
  });

  test("is read by another implementation as it was written", async () => {
    const part = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), bytes: fc.uint8Array({ maxLength: 200 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
        const { bytes: body, contentType } = encodeForm(parts.map((one): FormPart => ({ ...one, fileName: "f" })));
        const form = await new Response(body, { headers: { "Content-Type": contentType } }).formData();
        const read: [string, number[]][] = [];
        for (const [name, value] of form.entries())
          read.push([name, [...new Uint8Array(await (value as unknown as Blob).arrayBuffer())]]);
        assert.deepEqual(
          read,
          parts.map(({ name, bytes: sent }) => [name, [...sent]]),
        );
      }),
      { numRuns: 50 },
    );
  });
});
