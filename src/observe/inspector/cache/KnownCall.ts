/** Facts stored of a call: the ends of its prompts among the chains, and their context. No body. */
import type { CacheCall } from "./CacheCall.ts"
import type { CachePolicy } from "./CachePolicy.ts"
import { hashOf, type Mark, type Prompt, type Reasoning } from "../prompt/Prompt.ts"
import type { ChainNode } from "./PromptChains.ts"
import { copied } from "../diff/Shown.ts"

export interface KnownParameter {
  readonly path: string
  readonly hash: string
  /** The beginning of its JSON. */
  readonly text: string
}

/** A prompt without its parts. */
export interface KnownPrompt {
  /** Last part of it. */
  readonly end: ChainNode
  readonly reasoning: ReadonlyArray<Reasoning>
  readonly marks: ReadonlyArray<Mark>
  readonly parameters: ReadonlyArray<KnownParameter>
  readonly lastUser: number
  /** Parts up to the end of what is cached of it. */
  readonly cachedDepth: number
}

export interface KnownCall {
  readonly id: string
  readonly atMs: number
  readonly answeredAtMs: number
  readonly scope: string
  readonly provider: string | null
  readonly account: string | null
  readonly model: string
  readonly askedModel: string
  /** Prompt that the client sent, and the one that was sent to the provider; the same object where it is the same. */
  readonly client: KnownPrompt
  readonly sent: KnownPrompt
}

const maxParameterChars = 400
const maxReasoning = 1_024

export const knownParameters = ({ parameters }: Prompt): ReadonlyArray<KnownParameter> =>
  parameters.map(({ path, text }) => ({
    path,
    hash: hashOf(text),
    text: text.length <= maxParameterChars ? text : `${copied(text.slice(0, maxParameterChars))}…`
  }))

export const knownPrompt = (
  prompt: Prompt,
  path: ReadonlyArray<ChainNode>,
  root: ChainNode,
  policy: CachePolicy
): KnownPrompt => {
  const end = path.at(-1) ?? root
  const lastMark = prompt.marks.reduce((most, { after }) => Math.max(most, after), 0)
  return {
    end,
    reasoning: prompt.reasoning.slice(0, maxReasoning),
    marks: prompt.marks,
    parameters: knownParameters(prompt),
    lastUser: prompt.lastUser,
    cachedDepth: policy.writes === "marks" ? Math.min(lastMark, end.depth) : end.depth
  }
}

/** Names one account's cache of one model. */
export const scopeOf = ({ account, model, provider }: Pick<CacheCall, "account" | "model" | "provider">): string =>
  `${provider ?? ""}\n${account ?? ""}\n${model}`
