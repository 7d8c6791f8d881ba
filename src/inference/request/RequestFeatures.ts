/** What routing may know of a request: sizes, required capabilities, kind of task; never its text. Pure. */
import * as Either from "effect/Either"
import { readSample, sampleLength } from "../../routing/auto/TaskType.ts"
import { specificityOf } from "../../routing/auto/Specificity.ts"
import type { Features } from "../../routing/candidate/Candidate.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { Envelope } from "../../wire/WireCodec.ts"
import type { Exchange } from "./Exchange.ts"
import { promptTokens as promptTokensOf, type Prompt } from "./PromptTokens.ts"

/** The begin of what the user said last. */
const lastWords = ({ messages }: Conversation): string => {
  const parts = messages.findLast(({ role }) => role === "user")?.parts ?? []
  let text = ""
  for (const part of parts) {
    if (part.type === "text") text += `${part.text}\n`
    if (text.length >= sampleLength) break
  }
  return text.slice(0, sampleLength)
}

export const featuresOf = (
  { wire }: Pick<Exchange, "wire">,
  envelope: Envelope,
  prompt: Prompt,
  sessionKey: string | null
): Features => {
  const decoded = Either.getOrNull(prompt.conversation())
  const signals = readSample(decoded === null ? "" : lastWords(decoded))
  const promptTokens = promptTokensOf(prompt, envelope.model)
  return {
    wire,
    stream: envelope.stream,
    promptTokens,
    maxOutputTokens: envelope.maxOutputTokens,
    hasTools: envelope.hasTools,
    hasImages: envelope.hasImages,
    wantsReasoning: envelope.wantsReasoning,
    wantsSchema: envelope.wantsSchema,
    taskType: signals.taskType,
    specificity: specificityOf({ promptTokens, signals, toolCount: decoded?.tools.length ?? 0 }),
    sessionKey
  }
}
