/** Which models hold a conversation and which make embeddings: by what is known of their output, else by the name. Pure. */
import type { ModelFacts } from "./ModelFacts.ts"

/** Families of embeddings whose names do not say `embed`, and all that do. */
const embeds =
  /embed|(?:^|[/_:-])(?:bge|gte|e5|minilm|mpnet|voyage|snowflake-arctic|jina-clip|jina-colbert|all-roberta|sentence-t5|stella|instructor)(?=$|[._:-]|\d)/i

/** Those of these families that rank or read instead. */
const ranks = /rerank|cross-?encoder|classif/i

/** Painters, speakers, listeners and guards. */
const speaksOtherwise =
  /moderation|whisper|transcribe|dall-e|gpt-image|imagen|stable-diffusion|(?:^|[/_:-])(?:tts|sora|veo|flux|eleven|aura)(?=$|[._:-]|\d)/i

export const isEmbeddingModel = (id: string): boolean => embeds.test(id) && !ranks.test(id)

/** Whether a model may be taken for a chat without being declared as one. */
export const isChatModel = (model: string, { outputModalities }: Pick<ModelFacts, "outputModalities">): boolean =>
  outputModalities === null
    ? !embeds.test(model) && !ranks.test(model) && !speaksOtherwise.test(model)
    : outputModalities.includes("text")
