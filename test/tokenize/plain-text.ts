import * as fc from "fast-check";

/** Creates texts whose blanks and letter case JavaScript, Rust and Python treat alike, so that JavaScript's libraries are right for them. */
export function plainText(minLength = 0): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.constantFrom(
      ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
      "\n",
      "the ",
      "'ll",
      "12",
    ),
    minLength,
    maxLength: 60,
  });
}
