/** Waits, one turn of the event loop after the other, until `isMet` holds. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}
