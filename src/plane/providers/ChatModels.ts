/**
 * Decides which models hold a conversation, and which make embeddings, pictures, videos or music: by the known forms of
 * their output, else by the name. Pure.
 */
import { isForMediaOnly, isForSearchesOnly, type ProviderSpec } from "../../contract/domain/Provider.ts"
import type { ModelFacts } from "./ModelFacts.ts"

/** Families of embeddings whose names do not say `embed`, and all that do. */
const embeds =
  /embed|(?:^|[/_:-])(?:bge|gte|e5|minilm|mpnet|voyage|snowflake-arctic|jina-clip|jina-colbert|all-roberta|sentence-t5|stella|instructor)(?=$|[._:-]|\d)/i

/** Names of models of these families that rank or read instead. */
const ranks = /rerank|cross-?encoder|classif/i

/** Painters, speakers, listeners and guards. */
const speaksOtherwise =
  /moderation|whisper|transcribe|dall-e|gpt-image|imagen|stable-diffusion|(?:^|[/_:-])(?:tts|sora|veo|flux|eleven|aura)(?=$|[._:-]|\d)/i

/** Families of painters, and all whose names say `image`. */
const paints =
  /image|imagen|dall-e|stable-?diffusion|(?:^|[/_:-])(?:sdxl|sd3|flux|recraft|ideogram|seedream|kandinsky|playground-v|hidream|photon|stable-image|kolors)(?=$|[._:-]|\d)/i

/** Names of models of these families that look at pictures, change them only, or make videos of them. */
const looks = /embed|rerank|image-?(?:to-?)?(?:text|caption|video)|image2video|i2v|classif|upscal|moderation|vision/i

/** Pattern of families of models that make videos, and of all whose names say so. */
const films =
  /video|(?:^|[/_:-])(?:sora|veo|kling|seedance|hailuo|t2v|i2v|ltxv?|mochi|vidu|pika|hunyuanvideo|dream-machine|ray|gen[34])(?=$|[._:-]|\d|[ab]?(?:$|_))/i

/** Names of models that look at videos. */
const watches =
  /embed|rerank|video-?(?:to-?)?text|classif|caption|understand|videollama|video-?llava|video-?chat|moderation/i

const composes =
  /music|(?:^|[/_:-])(?:suno|lyria|udio|riffusion|chirp|stable-audio|diffrhythm|yue|ace-step)(?=$|[._:-]|\d)/i

export const isImageModel = (id: string): boolean => paints.test(id) && !looks.test(id)

/** Checks whether a model makes pictures, by its known output, else by the name. */
export const makesPictures = (id: string, { outputModalities }: Pick<ModelFacts, "outputModalities">): boolean =>
  outputModalities?.includes("image") ?? isImageModel(id)

export const isVideoModel = (id: string): boolean => films.test(id) && !watches.test(id)

export const isMusicModel = (id: string): boolean => composes.test(id) && !watches.test(id)

export const isEmbeddingModel = (id: string): boolean => embeds.test(id) && !ranks.test(id)

/** Forms of input and output; null: unknown. */
interface Modalities {
  readonly inputModalities: ReadonlyArray<string> | null
  readonly outputModalities: ReadonlyArray<string> | null
}

/** Checks whether a model may be taken for a chat without being declared as one. */
export const isChatModel = (model: string, { outputModalities }: Pick<Modalities, "outputModalities">): boolean =>
  outputModalities === null
    ? !embeds.test(model) && !ranks.test(model) && !speaksOtherwise.test(model) && !isImageModel(model)
    : outputModalities.includes("text")

/** Models that write text without taking turns: they transcribe, rank, judge or complete, or are asked over a socket only. */
const takesNoTurns =
  /moderation|whisper|transcri(?:be|ption)|realtime|gpt-3\.5-turbo-instruct|(?:^|[/_:-])(?:davinci-002|babbage-002|stt|asr|scribe|parakeet|speech|kokoro|orpheus|playai)(?=$|[._:-]|\d)/i

/**
 * Checks whether a model answers a conversation, for lists that people choose a chat model from. `spec`: its provider; null where it
 * is not known.
 */
export const converses = (
  model: string,
  { inputModalities, outputModalities }: Modalities,
  spec: Pick<ProviderSpec, "media" | "models" | "modelsPath" | "paintsOnly"> | null
): boolean => {
  if (spec !== null && (isForMediaOnly(spec) || isForSearchesOnly(spec))) return false
  if (inputModalities?.includes("text") === false || takesNoTurns.test(model) || ranks.test(model)) return false
  if (!isChatModel(model, { outputModalities })) return false
  return outputModalities !== null || (!isVideoModel(model) && !isMusicModel(model))
}
