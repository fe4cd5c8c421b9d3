import assert from "node:assert/strict";
import { ProtocolError, ResponseTooLargeError } from "../../src/transport/failure.ts";

/** What parsing gave: its result, or the words of one of the two errors it may throw. Any other error, or an empty one, fails the test. */
export function outcomeOf<T>(parse: () => T): { result: T } | { error: string } {
  try {
    return { result: parse() };
  } catch (error) {
    if (!(error instanceof ProtocolError || error instanceof ResponseTooLargeError)) throw error;
    assert.ok(
      error.message.length > 8 && error.message.length < 400,
      `an error that says nothing: ${JSON.stringify(error.message)}`,
    );
    return { error: error.message };
  }
}
