/** Loads the library of Jinja templates: of payloads, and of conversations. */
export const loadJinja = () => import("@huggingface/jinja");

/** The library. */
export type Jinja = Awaited<ReturnType<typeof loadJinja>>;
