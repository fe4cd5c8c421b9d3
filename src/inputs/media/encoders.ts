import type { IndexedImage } from "./png.ts";

/** Compressing encoders, which are only loaded where something is to be compressed. All work without chance and alike on every runtime. */

/** Sound to encode. */
export interface SoundSamples {
  readonly rateHz: number;
  /** One list for each channel, of levels from -1 to 1. */
  readonly channels: readonly Float32Array[];
}

/** What made-up media are compressed with. */
export interface MediaEncoders {
  /** The bytes of a JPEG file. */
  encodeJpeg(image: IndexedImage): Uint8Array;
  /** The bytes of an MP3 file. */
  encodeMp3(sound: SoundSamples): Uint8Array;
}

/** Which of them a run uses. */
export interface EncoderNeeds {
  readonly isJpegNeeded: boolean;
  readonly isMp3Needed: boolean;
}

const JPEG_QUALITY_PCT = 75;
const OPAQUE = 255;
/** Per channel; the most that MPEG 2.5 has for the lowest rates is one channel's 64. */
const MP3_KBITS_PER_SEC = 64;

/** Sample rates that MP3 files can have, in Hz. */
export const MP3_RATES_HZ = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/** Loads the encoders that are needed; the others throw when they are called. */
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
    // What the encoder hands out is its own memory, used again by the next call.
    const body = Uint8Array.from(encoder.encode(channels));
    return Buffer.concat([body, encoder.finalize()]);
  };
}
