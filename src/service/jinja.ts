/** Loads the library for Jinja templates of payloads and conversations. */
export const loadJinja = () => import("@huggingface/jinja");

/** The Jinja library. */
export type Jinja = Awaited<ReturnType<typeof loadJinja>>;
