/** Facts of a request for routing: sizes, required capabilities, kind of task; never its text. Pure. */
import * as Either from "effect/Either"
import { readSample, sampleLength } from "../routing/auto/TaskType.ts"
import { specificityOf } from "../routing/auto/Specificity.ts"
import type { Features } from "../routing/candidate/Candidate.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { Envelope } from "../../wire/WireCodec.ts"
import type { Exchange } from "./Exchange.ts"
import { promptTokens as promptTokensOf, type Prompt } from "./PromptTokens.ts"

/** The begin of some texts, a line each. */
const beginOf = (texts: Iterable<string>): string => {
  let begin = ""
  for (const text of texts) {
    begin += `${text}\n`
    if (begin.length >= sampleLength) break
  }
  return begin.slice(0, sampleLength)
}

/** The begin of what the user said last. */
const lastWords = ({ messages }: Conversation): string => {
  const parts = messages.findLast(({ role }) => role === "user")?.parts ?? []
  return beginOf(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
}

interface Read {
  readonly words: string
  readonly toolCount: number
}

const readPrompt = ({ conversation, plain = null }: Prompt): Read => {
  if (plain !== null) return { words: beginOf(plain.texts.slice(plain.userFrom, plain.userTo)), toolCount: 0 }
  const decoded = Either.getOrNull(conversation())
  return decoded === null ? { words: "", toolCount: 0 } : { words: lastWords(decoded), toolCount: decoded.tools.length }
}

export const featuresOf = (
  { wire }: Pick<Exchange, "wire">,
  envelope: Envelope,
  prompt: Prompt,
  sessionKey: string | null
): Features => {
  const { toolCount, words } = readPrompt(prompt)
  const signals = readSample(words)
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
    specificity: specificityOf({ promptTokens, signals, toolCount }),
    sessionKey
  }
}
