/**
 * The prompts of earlier calls as chains: each part is known by a hash over itself and the hash of the part before it, so a prefix that two
 * prompts share is kept once, and the longest one any earlier call has had is found with one look-up per part. Bounded: what was used longest
 * ago goes first, ends before beginnings.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { copied } from "../diff/Shown.ts"
import { hashOf, type Prompt, type Segment, type SegmentKind } from "../prompt/Prompt.ts"
import { segmentTokens } from "../prompt/SegmentTokens.ts"

/** State of a prefix in one account's cache of one model. */
export interface PrefixState {
  readonly scope: string
  /** False: only its size is known. */
  isWritten: boolean
  /** Time from which on it can be read. */
  availableAtMs: number
  ttlMs: number
  /** Time until which it is kept. */
  untilMs: number
  /** Tokens up to here, as the provider counted them; null when it did not. */
  tokens: number | null
}

export interface ChainNode {
  readonly hash: string
  readonly parent: ChainNode | null
  /** Parts up to this one. */
  readonly depth: number
  readonly kind: SegmentKind
  readonly role: string | null
  /** Messages of the prompt before its own, those of reasoning alone not counted. */
  readonly message: number | null
  /** Path at which it was first seen. */
  readonly path: string
  readonly isText: boolean
  /** Hash of the part alone. */
  readonly content: string
  /** JSON of it, or the beginning. */
  readonly text: string
  readonly isCut: boolean
  /** Estimated tokens of this part, of all parts up to it, and of those the tools and the system prompt. */
  readonly tokens: number
  readonly sum: number
  readonly sumTools: number
  readonly sumSystem: number
  /** One per account and model, `maxStates` at most. */
  readonly states: Array<PrefixState>
  /** Ids of the last call that ended here, and of the last one that came through. */
  endedBy: string | null
  lastCall: string | null
}

export interface ChainLimits {
  readonly maxNodes: number
  /** Characters of all parts that are kept to show what changed. */
  readonly maxChars: number
  /** Characters of one part. */
  readonly maxPartChars: number
}

const maxStates = 8
/** Characters' worth of what a node takes beside its text. */
const nodeChars = 400

export const rootNode: ChainNode = {
  hash: "",
  parent: null,
  depth: 0,
  kind: "tools",
  role: null,
  message: null,
  path: "",
  isText: false,
  content: "",
  text: "",
  isCut: false,
  tokens: 0,
  sum: 0,
  sumTools: 0,
  sumSystem: 0,
  states: [],
  endedBy: null,
  lastCall: null
}

export class PromptChains {
  readonly #nodes: LruMap<string, ChainNode>
  readonly #maxPartChars: number

  constructor({ maxChars, maxNodes, maxPartChars }: ChainLimits, onGone: (callId: string) => void) {
    this.#maxPartChars = maxPartChars
    this.#nodes = new LruMap({
      capacity: maxNodes,
      maxWeight: maxChars,
      weightOf: ({ text }) => text.length + nodeChars,
      onRemove: (_hash, node) => {
        if (node.endedBy !== null) onGone(node.endedBy)
        node.endedBy = null
      }
    })
  }

  get size(): number {
    return this.#nodes.size
  }

  get chars(): number {
    return this.#nodes.weight
  }

  /** The parts of a prompt as nodes, known ones and new ones. Nothing is kept until `keep`; `made` has the new ones of the call so far. */
  pathOf(prompt: Prompt, model: string, made: Map<string, ChainNode>): ReadonlyArray<ChainNode> {
    const path: Array<ChainNode> = []
    let parent = rootNode
    let message: number | null = null
    // Counted anew: where reasoning is dropped, messages of the body move up.
    let ordinal = -1
    for (const segment of prompt.segments) {
      // Where a message begins is part of the prompt.
      const begins = segment.message !== message ? "|" : "+"
      if (segment.message !== null && segment.message !== message) ordinal += 1
      message = segment.message
      const hash = hashOf(`${parent.hash}${begins}${segment.hash}`)
      const node: ChainNode =
        this.#nodes.peek(hash) ??
        made.get(hash) ??
        this.#made(hash, parent, segment, message === null ? null : ordinal, model)
      made.set(hash, node)
      path.push(node)
      parent = node
    }
    return path
  }

  /** Counts as a use of each node; the beginning counts as used last, so that no node stays without those before it. */
  keep(path: ReadonlyArray<ChainNode>): void {
    for (let at = path.length - 1; at >= 0; at -= 1) {
      const node = path[at]
      if (node !== undefined) this.#nodes.set(node.hash, node)
    }
  }

  isKept(node: ChainNode): boolean {
    return this.#nodes.peek(node.hash) === node
  }

  clear(): void {
    this.#nodes.clear()
  }

  #made(hash: string, parent: ChainNode, segment: Segment, message: number | null, model: string): ChainNode {
    const { hash: content, isText, kind, path, role, text } = segment
    const tokens = segmentTokens(segment, model)
    const isCut = text.length > this.#maxPartChars
    return {
      hash,
      parent,
      depth: parent.depth + 1,
      kind,
      role,
      message,
      path,
      isText,
      content,
      text: isCut ? copied(text.slice(0, this.#maxPartChars)) : text,
      isCut,
      tokens,
      sum: parent.sum + tokens,
      sumTools: parent.sumTools + (kind === "tools" ? tokens : 0),
      sumSystem: parent.sumSystem + (kind === "system" ? tokens : 0),
      states: [],
      endedBy: null,
      lastCall: null
    }
  }
}

export const stateOf = ({ states }: ChainNode, scope: string): PrefixState | undefined =>
  states.find((state) => state.scope === scope)

/** Finds the state of a node, made where there is none; the oldest one is removed for it. */
export const stateAt = ({ states }: ChainNode, scope: string): PrefixState => {
  const known = states.find((state) => state.scope === scope)
  if (known !== undefined) return known
  const made: PrefixState = { scope, isWritten: false, availableAtMs: 0, ttlMs: 0, untilMs: 0, tokens: null }
  if (states.length >= maxStates) states.shift()
  states.push(made)
  return made
}
