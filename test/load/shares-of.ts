import type { Share } from "../../src/load/share.ts";

/** The shares of `count` senders. */
export const sharesOf = (count: number): Share[] => Array.from({ length: count }, (_, index) => ({ index, count }));
