/**
 * Memory of earlier calls: their prompts as chains of hashes with the beginnings of the parts, the prefixes their accounts' caches hold, and
 * the reports of each. Bounded in calls, parts and characters; no body is kept.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { CacheCall } from "./CacheCall.ts"
import { type CachePolicy, policyOf } from "./CachePolicy.ts"
import { type KnownCall, type KnownPrompt, knownPrompt, scopeOf } from "./KnownCall.ts"
import { findPredecessor, type Predecessor } from "./Predecessor.ts"
import { type Mark, maxSegments, type Prompt } from "../prompt/Prompt.ts"
import { type ChainNode, PromptChains, rootNode, stateAt, stateOf } from "./PromptChains.ts"
import { promptOf } from "../prompt/PromptOrder.ts"
import { readable } from "./Readable.ts"

export interface CacheHistoryLimits {
  readonly maxCalls: number
  /** Parts of prompts; those that prompts share count once. */
  readonly maxNodes: number
  /** Characters of all parts, with what they take beside their text. */
  readonly maxChars: number
  /** Characters of one part; a difference behind them is known by its path, not by its text. */
  readonly maxPartChars: number
}

export const usualLimits: CacheHistoryLimits = {
  maxCalls: 2_048,
  maxNodes: 32_768,
  maxChars: 16_777_216,
  maxPartChars: 16_384
}

/** Accounts and models that are remembered to report reads. */
const maxReporting = 1_024

/** A prompt of the call at hand. */
export interface ReadPrompt {
  readonly prompt: Prompt
  readonly path: ReadonlyArray<ChainNode>
}

/** A call, read against what is known. */
export interface ReadCall {
  readonly call: CacheCall
  readonly scope: string
  readonly policy: CachePolicy
  readonly client: ReadPrompt
  /** The same object as `client` where the provider got what the client sent. */
  readonly sent: ReadPrompt
  readonly predecessor: Predecessor | null
  /** An earlier call by its id, if it is still known. */
  readonly byId: (id: string | null) => KnownCall | undefined
  /** True when a count of zero from this account and model means that nothing was read. */
  readonly isReporting: boolean
}

/** Time an entry lives whose part ends at `depth`: what the first mark at or behind it asks for. */
const ttlAt = (depth: number, marks: ReadonlyArray<Mark>, usualMs: number): number =>
  marks.reduce((most, { after, ttlMs }) => (after >= depth ? Math.max(most, ttlMs) : most), 0) || usualMs

export class CacheHistory {
  readonly #chains: PromptChains
  readonly #calls: LruMap<string, KnownCall>
  /** Ids of the last calls that had a part of a message, by its hash. */
  readonly #owners: LruMap<string, string>
  readonly #reporting = new LruMap<string, true>({ capacity: maxReporting })

  constructor({ maxCalls, ...limits }: CacheHistoryLimits = usualLimits) {
    this.#calls = new LruMap({ capacity: maxCalls })
    this.#owners = new LruMap({ capacity: Math.max(limits.maxNodes, maxSegments) })
    // A call is dropped together with the part it ends with.
    this.#chains = new PromptChains(limits, (id) => void this.#calls.delete(id))
  }

  get size(): { readonly calls: number; readonly nodes: number; readonly chars: number; readonly owners: number } {
    return {
      calls: this.#calls.size,
      nodes: this.#chains.size,
      chars: this.#chains.chars,
      owners: this.#owners.size
    }
  }

  /** Reads a call; remembers nothing. Takes time linear in its bodies. */
  read(call: CacheCall): ReadCall {
    const made = new Map<string, ChainNode>()
    const read = (prompt: Prompt, model: string): ReadPrompt => ({
      prompt,
      path: this.#chains.pathOf(prompt, model, made)
    })
    const client = read(promptOf(call.wire, call.body), call.askedModel)
    const sent = call.sent === null ? client : read(promptOf(call.sent.wire, call.sent.body), call.model)
    const scope = scopeOf(call)
    const policy = policyOf(call.sent?.wire ?? call.wire, call.provider, call.model, sent.prompt)
    const byId = (id: string | null): KnownCall | undefined => (id === null ? undefined : this.#calls.peek(id))
    const ownerOf = (content: string): KnownCall | undefined => byId(this.#owners.peek(content) ?? null)
    return {
      call,
      scope,
      policy,
      client,
      sent,
      byId,
      predecessor: findPredecessor(client.path, { byId, ownerOf }, call.atMs),
      isReporting: policy.reads === "documented" || this.#reporting.peek(scope) === true
    }
  }

  /** Remembers a call that was answered. */
  remember({ call, client, policy, scope, sent }: ReadCall): void {
    if (!call.isAnswered || client.path.length === 0) return
    if ((call.reported?.cacheRead ?? 0) > 0) this.#reporting.set(scope, true)
    const known = (one: ReadPrompt): KnownPrompt => knownPrompt(one.prompt, one.path, rootNode, policy)
    const clientPrompt = known(client)
    const { account, answeredAtMs, askedModel, atMs, id, model, provider } = call
    const sentPrompt = sent === client ? clientPrompt : known(sent)
    const who = { id, atMs, answeredAtMs, scope, provider, account, model, askedModel }
    const remembered: KnownCall = { ...who, client: clientPrompt, sent: sentPrompt }
    this.#write(sent, sentPrompt, remembered, policy, call)
    this.#chains.keep(sent.path)
    if (sent !== client) this.#chains.keep(client.path)
    for (const node of client.path) {
      node.lastCall = id
      if (node.kind === "message") this.#owners.set(node.content, id)
    }
    // What did not fit is not known: a call without its end could not be compared.
    const isKept = this.#chains.isKept(clientPrompt.end) && (sent === client || this.#chains.isKept(sentPrompt.end))
    if (!isKept) return
    clientPrompt.end.endedBy = id
    this.#calls.set(id, remembered)
  }

  clear(): void {
    this.#chains.clear()
    this.#calls.clear()
    this.#owners.clear()
    this.#reporting.clear()
  }

  /** Notes the prefix that the call leaves in its account's cache, and its number of tokens. */
  #write(
    { path, prompt }: ReadPrompt,
    known: KnownPrompt,
    { scope }: KnownCall,
    policy: CachePolicy,
    call: CacheCall
  ): void {
    const { answeredAtMs, atMs, reported } = call
    const marked = new Set(prompt.marks.map(({ after }) => after))
    // Of entries that are not written anew, the one that is read is used.
    const { reached } = readable(path, scope, atMs, prompt.marks, policy)
    const isWritten = (depth: number): boolean =>
      policy.writes === "all" || (policy.writes === "marks" ? marked.has(depth) : depth === path.length)
    for (const node of path) {
      const { depth } = node
      const old = stateOf(node, scope)
      const isAlive = old?.isWritten === true && old.untilMs >= atMs
      if (!isWritten(depth) && !(isAlive && depth === reached)) continue
      const state = stateAt(node, scope)
      if (!isAlive) state.availableAtMs = answeredAtMs
      if (isWritten(depth)) state.ttlMs = ttlAt(depth, prompt.marks, policy.ttlMs)
      state.isWritten = true
      state.untilMs = Math.max(state.untilMs, atMs + state.ttlMs)
    }
    if (reported === null || path.length === 0) return
    const { end } = known
    if (reported.in > 0 && end.depth > 0) stateAt(end, scope).tokens = reported.in
    const cached = path[known.cachedDepth - 1]
    const through = reported.cacheRead + reported.cacheWrite
    // With marks, what was read and written is all up to the last mark.
    if (policy.writes === "marks" && cached !== undefined && cached !== end && through > 0)
      stateAt(cached, scope).tokens = through
  }
}
