import { drawIndex, drawNormal, type Random } from "../../runtime/random.ts";
import type { Spread } from "../lengths.ts";
import { type MediaEncoders, refuseLargeMedia } from "./encoders.ts";
import { encodePng, type IndexedImage, PALETTE_COLOURS } from "./png.ts";

export type ImageFormat = "png" | "jpeg";

export interface ImageSettings {
  readonly widthPx: Spread;
  readonly heightPx: Spread;
  /** Absent: drawn for each image. */
  readonly format?: ImageFormat;
}

/** Size of a coloured tile in pixels. */
const TILE_PX = 16;
/** Number of shades per colour. */
const SHADES = 8;
/** Difference between neighbouring shades, of 255. */
const SHADE_STEP = 4;
/** Number of shades drawn per image and repeated. A prime, so that the repetition does not align with rows. */
const NOISE_PX = 4099;

/**
 * Generates an image of coloured, slightly noisy tiles as `data:image/png;base64,…`. The same random numbers give the same bytes. @throws
 * UserError if it is too large
 */
export function makeImage(random: Random, settings: ImageSettings, encoders: MediaEncoders): string {
  const format = settings.format ?? (drawIndex(random, 2) === 0 ? "png" : "jpeg");
  const width = drawSize(random, settings.widthPx);
  const height = drawSize(random, settings.heightPx);
  refuseLargeMedia(`an image of ${width} × ${height} pixels`, width * height);
  const palette = drawPalette(random);
  const image: IndexedImage = { width, height, palette, pixels: drawTiles(random, width, height) };
  const bytes = format === "png" ? encodePng(image) : encoders.encodeJpeg(image);
  return `data:image/${format};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")}`;
}

/** Like in GenAI-Perf: the absolute value, and at least 1. */
function drawSize(random: Random, { mean, stddev }: Spread): number {
  return Math.max(1, Math.trunc(Math.abs(drawNormal(random, mean, stddev))));
}

/** Draws colours, each in {@link SHADES} shades. */
function drawPalette(random: Random): Uint8Array {
  const palette = new Uint8Array(PALETTE_COLOURS * 3);
  for (let first = 0; first < PALETTE_COLOURS; first += SHADES)
    for (let channel = 0; channel < 3; channel++) {
      const level = drawIndex(random, 256 - SHADES * SHADE_STEP);
      for (let shade = 0; shade < SHADES; shade++) palette[(first + shade) * 3 + channel] = level + shade * SHADE_STEP;
    }
  return palette;
}

function drawTiles(random: Random, width: number, height: number): Uint8Array {
  const columns = Math.ceil(width / TILE_PX);
  const count = columns * Math.ceil(height / TILE_PX);
  const tiles = Uint8Array.from({ length: count }, () => drawIndex(random, PALETTE_COLOURS / SHADES) * SHADES);
  const noise = Uint8Array.from({ length: Math.min(NOISE_PX, width * height) }, () => drawIndex(random, SHADES));
  const pixels = new Uint8Array(width * height);
  for (let y = 0, at = 0, shade = 0; y < height; y++) {
    const row = Math.floor(y / TILE_PX) * columns;
    for (let x = 0; x < width; x++) {
      pixels[at++] = (tiles[row + Math.floor(x / TILE_PX)] as number) + (noise[shade] as number);
      if (++shade === noise.length) shade = 0;
    }
  }
  return pixels;
}
