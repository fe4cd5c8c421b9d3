import { type AudioSettings, checkAudio } from "../../../inputs/media/synthetic-audio.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { hasMadeUpPrompts } from "../input-format.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

/** The images, audio and batches that each endpoint type supports. */

type Takes = "takesImages" | "takesSounds";

/** Refuses media settings that the endpoint type does not support. */
export function checkMedia(rules: RuleSet): void {
  checkImages(rules);
  checkSounds(rules);
  checkBatches(rules);
}

/** Reports whether images are generated. */
export function hasMadeUpImages({ input }: GenaiSettings): boolean {
  return input.image.widthPx.mean > 0 && input.image.heightPx.mean > 0;
}

/** Reports whether audio is generated. */
export function hasMadeUpAudio({ input }: GenaiSettings): boolean {
  return input.audio.lengthSec.mean > 0;
}

/** Reports a problem that starts with the flag's name. */
function refuse(rules: RuleSet, at: SettingPath, message: string, hint: string): void {
  rules.refuse(true, at, `${nameOf(at)}: ${message}`, hint);
}

function checkImages(rules: RuleSet): void {
  const { image } = rules.settings.input;
  const hint = "Give both --image-width-mean and --image-height-mean.";
  if (hasMadeUpImages(rules.settings)) checkTypes(rules, "input.image.widthPx.mean", "images", "takesImages");
  else if (image.widthPx.mean > 0 || image.heightPx.mean > 0) {
    const at = image.widthPx.mean > 0 ? "input.image.widthPx.mean" : "input.image.heightPx.mean";
    refuse(rules, at, "an image has a width and a height", hint);
  } else {
    const message = "describes synthetic images, but requests carry none";
    for (const at of ["input.image.widthPx.stddev", "input.image.heightPx.stddev", "input.image.format"] as const)
      if (rules.isChosen(at)) refuse(rules, at, message, hint);
    if (ENDPOINT_TYPES[rules.settings.endpoint.type].isTextless && hasMadeUpPrompts(rules.settings))
      refuse(rules, "endpoint.type", "image_retrieval has no images to send", hint);
  }
}

const AUDIO_DETAILS = [
  "input.audio.lengthSec.stddev",
  "input.audio.format",
  "input.audio.depthsBits",
  "input.audio.sampleRatesKhz",
  "input.audio.channels",
] as const;

function checkSounds(rules: RuleSet): void {
  const { audio } = rules.settings.input;
  if (hasMadeUpAudio(rules.settings)) {
    rules.problems.push(...checkAudio(toAudioSettings(audio)));
    checkTypes(rules, "input.audio.lengthSec.mean", "audio clips", "takesSounds");
  } else
    for (const at of AUDIO_DETAILS)
      if (rules.isChosen(at))
        refuse(rules, at, "describes synthetic audio, but requests carry none", "Add --audio-length-mean.");
}

/** Converts the settings of audio to those of its generator. */
export function toAudioSettings({
  lengthSec,
  depthsBits,
  sampleRatesKhz,
  channels,
  format,
}: GenaiSettings["input"]["audio"]): AudioSettings {
  const sampleRatesHz = sampleRatesKhz.map((kHz) => Math.round(kHz * 1000));
  return { lengthS: lengthSec, depthsBits, sampleRatesHz, channelCount: channels, format };
}

/** Refuses generated media for endpoint types that do not support them. */
function checkTypes(rules: RuleSet, at: SettingPath, what: string, takes: Takes): void {
  const { endpoint, input } = rules.settings;
  if (!ENDPOINT_TYPES[endpoint.type][takes]) {
    const types = Object.entries(ENDPOINT_TYPES).flatMap(([type, entry]) => (entry[takes] ? [type] : []));
    const hint = `Leave it out, or use --endpoint-type ${types.join(", ")}.`;
    refuse(rules, at, `requests of the endpoint type ${endpoint.type} have no ${what}`, hint);
  }
  if (!hasMadeUpPrompts(rules.settings))
    refuse(
      rules,
      at,
      `${what} can only be generated together with synthetic prompts`,
      "Leave out this option or --input-file.",
    );
  if (input.sessions.count > 0)
    refuse(rules, at, `synthetic sessions have no ${what}`, "Leave out this option or --num-sessions.");
}

function checkBatches(rules: RuleSet): void {
  const { input, endpoint } = rules.settings;
  const { type } = endpoint;
  if (input.textBatchSize !== 1 && ENDPOINT_TYPES[type].takesOneText) {
    const message = `The --batch-size-text flag is not supported for ${type}.`;
    refuse(rules, "input.textBatchSize", message, "Leave it out: a request has one text.");
  }
  const batches = [
    ["input.image.batchSize", "images", "takesImages"],
    ["input.audio.batchSize", "audio clips", "takesSounds"],
  ] as const;
  for (const [at, what, takes] of batches)
    if (rules.isChosen(at) && !ENDPOINT_TYPES[type][takes])
      refuse(rules, at, `requests of the endpoint type ${type} have no ${what}`, "Leave it out.");
}
