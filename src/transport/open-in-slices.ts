/** Opening more connections than this at once would keep signals and timers waiting. */
const MOST_AT_ONCE = 64;

/**
 * Opens connections, some in each turn of the event loop. Resolves when all are open or have failed.
 * @param open opens one @param isClosed whether to open no more
 */
export async function openInSlices<T>(
  items: readonly T[],
  open: (item: T) => Promise<void>,
  isClosed: () => boolean,
): Promise<void> {
  const opening: Promise<void>[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % MOST_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    if (isClosed()) break;
    opening.push(open(item));
  }
  await Promise.all(opening);
}
