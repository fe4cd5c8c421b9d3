import { userError } from "../../plan/problem.ts";
import { formatCount } from "../../plan/units.ts";
import type { IndexedImage } from "./png.ts";

/** Audio to encode. */
export interface SoundSamples {
  readonly rateHz: number;
  /** Samples from -1 to 1, one array per channel. */
  readonly channels: readonly Float32Array[];
}

/** Encoders for generated media. Their results are deterministic and the same on every runtime. */
export interface MediaEncoders {
  encodeJpeg(image: IndexedImage): Uint8Array;
  encodeMp3(sound: SoundSamples): Uint8Array;
}

/** The encoders that a run uses. */
export interface EncoderNeeds {
  readonly isJpegNeeded: boolean;
  readonly isMp3Needed: boolean;
}

const JPEG_QUALITY_PCT = 75;
const OPAQUE = 255;
/** Bit rate per channel. MPEG 2.5, which MP3 uses for the lowest sample rates, allows 64 for one channel. */
const MP3_KBITS_PER_SEC = 64;

/** Sample rates of MP3 files, in Hz. */
export const MP3_RATES_HZ = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/** Loads the encoders that are needed. Others throw when called. */
export async function openEncoders({ isJpegNeeded, isMp3Needed }: EncoderNeeds): Promise<MediaEncoders> {
  return {
    encodeJpeg: isJpegNeeded ? await openJpeg() : missing("JPEG"),
    encodeMp3: isMp3Needed ? await openMp3() : missing("MP3"),
  };
}

function missing(what: string): () => never {
  return () => {
    throw new Error(`the encoder of ${what} was not opened`);
  };
}

async function openJpeg(): Promise<MediaEncoders["encodeJpeg"]> {
  const { default: jpeg } = await import("jpeg-js");
  return (image) =>
    jpeg.encode({ width: image.width, height: image.height, data: toRgba(image) }, JPEG_QUALITY_PCT).data;
}

function toRgba({ palette, pixels }: IndexedImage): Uint8Array {
  const rgba = new Uint8Array(pixels.length * 4);
  for (let i = 0, at = 0; i < pixels.length; i++) {
    const colour = (pixels[i] as number) * 3;
    rgba[at++] = palette[colour] as number;
    rgba[at++] = palette[colour + 1] as number;
    rgba[at++] = palette[colour + 2] as number;
    rgba[at++] = OPAQUE;
  }
  return rgba;
}

async function openMp3(): Promise<MediaEncoders["encodeMp3"]> {
  const { createMp3Encoder } = await import("wasm-media-encoders");
  const encoder = await createMp3Encoder();
  return ({ rateHz, channels }) => {
    const outputSampleRate = MP3_RATES_HZ.find((known) => known === rateHz);
    if (outputSampleRate === undefined) throw new Error(`MP3 has no sample rate of ${rateHz} Hz`);
    const count = channels.length === 2 ? 2 : 1;
    encoder.configure({ sampleRate: rateHz, channels: count, outputSampleRate, bitrate: MP3_KBITS_PER_SEC });
    // The encoder returns a view of its memory, which the next call overwrites.
    const body = Uint8Array.from(encoder.encode(channels));
    return Buffer.concat([body, encoder.finalize()]);
  };
}

/** Maximum size of a generated image or clip before it is encoded: 64 MiB, an image of 8192 × 8192 pixels or 35 minutes of speech. */
const MOST_MEDIA_BYTES = 64 * 1024 * 1024;

/**
 * @throws UserError for an image or clip above {@link MOST_MEDIA_BYTES} @param what description with its size @param bytes one byte per
 * pixel, or the bytes of its samples
 */
export function refuseLargeMedia(what: string, bytes: number): void {
  if (bytes <= MOST_MEDIA_BYTES) return;
  const message = `${what} takes ${formatCount(bytes)} bytes, more than the maximum of ${formatCount(MOST_MEDIA_BYTES)}`;
  throw userError("invalid-value", "inputs", message, "Give a smaller size.");
}
