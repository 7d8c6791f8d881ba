/**
 * The earlier call of the same conversation. Clients send no reliable name of a conversation (programs use one session for all of their agents),
 * so it is found by what was said: the call whose prompt comes again in this one the most, if it is the same agent that asks. Pure.
 */
import type { KnownCall } from "./KnownCall.ts"
import { likeness, type Overlap, overlapOf } from "./Overlap.ts"
import type { ChainNode } from "./PromptChains.ts"

export interface Predecessor {
  readonly call: KnownCall
  /** Overlap of the prompts as the client sent them. */
  readonly overlap: Overlap
}

/** Calls that are compared. */
const maxCandidates = 8
/** Parts that are looked up, from the last to the first. */
const maxLookups = 1_024
/** Texts that are alike by so much are versions of each other. */
const alikeFrom = 0.5
/** Parts of messages that two conversations do not share by chance. */
const sureMessages = 3

/**
 * Checks whether the same agent asks: it has kept most of its tools or of its system prompt, or of a conversation that
 * is long enough.
 */
const isSameAgent = ({ call, overlap }: Predecessor, path: ReadonlyArray<ChainNode>): boolean => {
  const { end } = call.client
  const { last, tail } = overlap
  const next = path[overlap.shared]
  const alike = next !== undefined && next.kind === "system" && likeness(tail[0], next) >= alikeFrom ? next.tokens : 0
  const tools = last.sumTools + overlap.againTools
  const system = last.sumSystem + overlap.againSystem + alike
  if (end.sumTools + end.sumSystem === 0) return (path.at(-1)?.sumTools ?? 0) === 0 || overlap.messages >= sureMessages
  return (
    (end.sumTools > 0 && tools * 2 >= end.sumTools) ||
    (end.sumSystem > 0 && system * 2 >= end.sumSystem) ||
    overlap.messages >= sureMessages
  )
}

const hasAnswerAfter = (path: ReadonlyArray<ChainNode>, at: number): boolean =>
  path.some(({ role }, index) => index >= at && (role === "assistant" || role === "model"))

/**
 * Checks whether the call continues the conversation of the earlier one. Where no message is the same, its first one was changed in place: the
 * texts are alike, and answers follow.
 */
const isContinued = ({ overlap }: Predecessor, path: ReadonlyArray<ChainNode>): boolean => {
  if (overlap.messages > 0) return true
  const next = path[overlap.shared]
  return (
    next?.kind === "message" && likeness(overlap.tail[0], next) >= alikeFrom && hasAnswerAfter(path, overlap.shared)
  )
}

/** All of the earlier prompt is the beginning of this one. */
const isWhole = ({ overlap }: Predecessor): boolean => overlap.tail.length === 0

/** Estimated tokens of the earlier prompt that are in this one. Texts that are only alike do not count: programs ask many things in the same words. */
const scoreOf = ({ overlap }: Predecessor): number => overlap.last.sum + overlap.again

const isCloser = (one: Predecessor, other: Predecessor): boolean => {
  const [score, otherScore] = [scoreOf(one), scoreOf(other)]
  return score > otherScore || (score === otherScore && !isWhole(other) && one.overlap.alike > other.overlap.alike)
}

/** Facts of earlier calls. */
export interface EarlierCalls {
  readonly byId: (id: string | null) => KnownCall | undefined
  /** The last call that had a part, by its hash. */
  readonly ownerOf: (content: string) => KnownCall | undefined
}

export const findPredecessor = (
  path: ReadonlyArray<ChainNode>,
  calls: EarlierCalls,
  atMs: number
): Predecessor | null => {
  const candidates = new Set<KnownCall>()
  const isEarlier = (call: KnownCall | undefined): call is KnownCall => call !== undefined && call.answeredAtMs <= atMs
  const consider = (call: KnownCall | undefined): void => {
    if (isEarlier(call) && candidates.size < maxCandidates) candidates.add(call)
  }
  const isMessage = ({ kind }: ChainNode): boolean => kind === "message"
  const whole = path.findLast((node) => isMessage(node) && isEarlier(calls.byId(node.endedBy)))
  consider(calls.byId(whole?.endedBy ?? null))
  for (let at = path.length - 1; at >= Math.max(0, path.length - maxLookups); at -= 1) {
    const node = path[at]
    if (node === undefined || !isMessage(node) || candidates.size >= maxCandidates - 1) break
    consider(calls.ownerOf(node.content))
  }
  consider(calls.byId(path.findLast(({ lastCall }) => lastCall !== null)?.lastCall ?? null))
  let best: Predecessor | null = null
  for (const call of candidates) {
    const { end } = call.client
    const found: Predecessor = { call, overlap: overlapOf({ end, cachedDepth: end.depth }, path) }
    if (!isContinued(found, path) || !isSameAgent(found, path)) continue
    if (best === null || isCloser(found, best)) best = found
  }
  return best
}
