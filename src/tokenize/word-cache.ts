/** Maximum length of a cached word. Longer words rarely occur twice. */
const MAX_LENGTH = 64;
const MAX_WORDS = 65_536;

/** Caches the tokens of words, because most words of a text repeat. */
export class WordCache {
  private readonly encodeWord: (word: string, ids: number[]) => void;
  private readonly known = new Map<string, readonly number[]>();

  /** @param encodeWord adds a word's tokens to a list */
  constructor(encodeWord: (word: string, ids: number[]) => void) {
    this.encodeWord = encodeWord;
  }

  /** Adds the word's tokens to the list. */
  append(word: string, ids: number[]): void {
    for (const id of this.find(word)) ids.push(id);
  }

  count(word: string): number {
    return this.find(word).length;
  }

  private find(word: string): readonly number[] {
    const known = this.known.get(word);
    if (known !== undefined) return known;
    const ids: number[] = [];
    this.encodeWord(word, ids);
    if (word.length <= MAX_LENGTH) {
      if (this.known.size >= MAX_WORDS) this.known.clear();
      this.known.set(word, ids);
    }
    return ids;
  }
}
