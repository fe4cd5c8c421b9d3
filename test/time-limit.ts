/** A test that takes longer hangs. A busy machine may give a tenth of its usual speed. For tests that take more than a moment. */
export const LIMIT = { timeout: 600_000 };
