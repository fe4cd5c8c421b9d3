import type { Stream } from "./stream.ts";

const INITIAL_PLACES = 64; // a power of two, like all sizes

/**
 * The open streams of a connection by id. A client's ids are odd and count up, so each stream has a place in a ring, and opening and
 * ending a stream allocates nothing. A stream that is still open when its place comes round again is kept in a map.
 */
export class OpenStreams {
  size = 0;
  private places: (Stream | undefined)[] = emptyPlaces(INITIAL_PLACES);
  private readonly older = new Map<number, Stream>();

  get(id: number): Stream | undefined {
    const stream = this.places[this.placeOf(id)];
    if (stream !== undefined && stream.id === id) return stream;
    return this.older.size === 0 ? undefined : this.older.get(id);
  }

  /** Adds a stream whose id is above all earlier ones. */
  add(stream: Stream): void {
    if (this.size * 2 >= this.places.length) this.grow();
    this.size++;
    this.put(stream);
  }

  /** Removes a stream. Returns whether there was one with this id. */
  delete(id: number): boolean {
    const place = this.placeOf(id);
    if (this.places[place]?.id === id) this.places[place] = undefined;
    else if (this.older.size === 0 || !this.older.delete(id)) return false;
    this.size--;
    return true;
  }

  /** Returns all open streams, oldest first. */
  values(): Stream[] {
    const recent = this.places.filter((stream) => stream !== undefined);
    return [...this.older.values(), ...recent].sort((a, b) => a.id - b.id);
  }

  clear(): void {
    this.places.fill(undefined);
    this.older.clear();
    this.size = 0;
  }

  private placeOf(id: number): number {
    return (id >>> 1) & (this.places.length - 1);
  }

  private put(stream: Stream): void {
    const place = this.placeOf(stream.id);
    const before = this.places[place];
    if (before !== undefined) this.older.set(before.id, before);
    this.places[place] = stream;
  }

  private grow(): void {
    const streams = this.values();
    this.places = emptyPlaces(this.places.length * 2);
    this.older.clear();
    for (const stream of streams) this.put(stream);
  }
}

/** Filled, because engines then keep the elements in a dense array. */
function emptyPlaces(count: number): (Stream | undefined)[] {
  return new Array<Stream | undefined>(count).fill(undefined);
}
