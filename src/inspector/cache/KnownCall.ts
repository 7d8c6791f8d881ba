/** What is kept of a call: where its prompts end among the chains, and what stood beside them. No body. */
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
  /** Its last part. */
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
  /** What the client sent, and what was sent to the provider; the same object where it is the same. */
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
