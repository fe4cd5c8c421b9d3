import { drawIndex, drawNormal, type Random } from "../../runtime/random.ts";
import type { Spread } from "../prompts/lengths.ts";
import { encodePng, PALETTE_COLOURS } from "./png.ts";

/** What images to make up. */
export interface ImageSettings {
  readonly widthPx: Spread;
  readonly heightPx: Spread;
}

/** Pixels of one coloured tile, and how many neighbouring shades its pixels vary by. */
const TILE_PX = 16;
const SHADES = 8;

/** A made-up picture of coloured, slightly noisy tiles as `data:image/png;base64,…`; the same numbers give the same bytes. */
export function makeImage(random: Random, settings: ImageSettings): string {
  const width = drawSize(random, settings.widthPx);
  const height = drawSize(random, settings.heightPx);
  const palette = Uint8Array.from({ length: PALETTE_COLOURS * 3 }, () => drawIndex(random, 256));
  const bytes = encodePng({ width, height, palette, pixels: drawTiles(random, width, height) });
  return `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
}

/** As GenAI-Perf: the sign is dropped, and no image has a size of 0. */
function drawSize(random: Random, { mean, stddev }: Spread): number {
  return Math.max(1, Math.trunc(Math.abs(drawNormal(random, mean, stddev))));
}

function drawTiles(random: Random, width: number, height: number): Uint8Array {
  const columns = Math.ceil(width / TILE_PX);
  const count = columns * Math.ceil(height / TILE_PX);
  const tiles = Uint8Array.from({ length: count }, () => drawIndex(random, PALETTE_COLOURS - SHADES));
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / TILE_PX) * columns;
    for (let x = 0; x < width; x++) {
      pixels[y * width + x] = (tiles[row + Math.floor(x / TILE_PX)] as number) + drawIndex(random, SHADES);
    }
  }
  return pixels;
}
