import { drawIndex, type Random } from "../../runtime/random.ts";

/**
 * Generates plain English prose of any length from a word list and a few sentence patterns. The word list was written for this project.
 * Prompts differ after the first words, so that they do not hit a server's prefix cache by accident.
 */

const NOUNS =
  `river harbour village engine letter garden bridge lantern market teacher winter museum forest signal kitchen pilot
orchard captain window journey mountain library station farmer island carpenter morning valley machine shadow neighbour painter courtyard
doctor compass railway ladder summer baker tower student traveller fountain storm mirror cottage widow blanket sailor violin harvest
curtain candle merchant stable meadow clock thunder horse basket stranger ocean paper customer chimney puzzle nephew cupboard judge
feather weaver copper needle season gardener kettle corner picture bottle`.split(/\s+/);

const VERBS =
  `carried watched repaired remembered crossed painted followed measured discovered borrowed polished described opened
counted warmed answered guarded admired delivered noticed lifted questioned gathered rebuilt sketched hid returned visited explained
praised ignored sold weighed mended found studied lost promised sheltered copied`.split(/\s+/);

const ADJECTIVES =
  `quiet narrow golden broken distant gentle crowded patient wooden bright hollow ancient careful bitter slender
foreign humble restless silver faded steady curious frozen generous dusty modest hidden velvet stubborn clever weary green heavy
southern empty cheerful pale sudden common honest`.split(/\s+/);

const ADVERBS =
  `slowly often never quickly twice gladly seldom together nearly always softly alone again soon once barely
almost still proudly calmly`.split(/\s+/);

const JOINTS = "and,but,while,because,before,after,until,although,so,where,since,when".split(",");
const PLACES = "near,beside,behind,above,under,beyond,inside,across,around,against,past,toward".split(",");
const OPENERS = "The,A,This,That,One,Every,Another,Some,Each,Our,Their,His,Her,My".split(",");
const ARTICLES = "the,a,this,that,one,every,another,some,each,our,their,his,her,my".split(",");

/** Short texts that are one token in most tokenizers, to fill the rest of a prompt. */
export const FILLERS: readonly string[] = [
  ..." the, a, of, and, in, to, it, he, we, is, was, at, on, so, by, no, one, all, out, now".split(","),
  ..." time, day, man, not, for, with, that, this, his, her, you, they, from, who, can, had, had been".split(","),
  ".",
  ",",
  ";",
  "!",
  "?",
  ":",
  ..." I, 1, 2, x, s, e, z".split(","),
  ..."s,a,e,t,n,y,x,1,0,z".split(","),
];

/** Returns the next piece of prose: a word with a leading space, or a punctuation mark. Join the pieces for the text. */
export type Phrases = () => string;

/** Creates a generator of prose. The first piece starts a sentence. */
export function createPhrases(random: Random): Phrases {
  let pending: string[] = [];
  return () => {
    if (pending.length === 0) pending = makeSentence(random).reverse();
    return pending.pop() as string;
  };
}

function makeSentence(random: Random): string[] {
  const pieces = [pick(random, OPENERS), ...makeClause(random)];
  while (random() < 0.4) {
    if (random() < 0.5) pieces.push(",");
    pieces.push(pick(random, JOINTS), pick(random, ARTICLES), ...makeClause(random));
  }
  pieces.push(random() < 0.92 ? "." : "?");
  return pieces.map((piece) => (/^\w/.test(piece) ? ` ${piece}` : piece));
}

/** Returns a clause without the subject's article: `quiet river often carried a letter near the old bridge`. */
function makeClause(random: Random): string[] {
  const pieces = random() < 0.5 ? [pick(random, ADJECTIVES)] : [];
  pieces.push(pick(random, NOUNS));
  if (random() < 0.35) pieces.push(pick(random, ADVERBS));
  pieces.push(pick(random, VERBS), pick(random, ARTICLES));
  if (random() < 0.4) pieces.push(pick(random, ADJECTIVES));
  pieces.push(pick(random, NOUNS));
  if (random() < 0.45) pieces.push(pick(random, PLACES), pick(random, ARTICLES), pick(random, NOUNS));
  return pieces;
}

function pick(random: Random, words: readonly string[]): string {
  return words[drawIndex(random, words.length)] as string;
}
