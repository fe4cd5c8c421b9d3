import { fileURLToPath } from "node:url";

/** The folder of a small tokenizer, for whatever counts tokens in tests. */
export const TINY = fileURLToPath(new URL("./fixtures/tiny", import.meta.url));
