/**
 * Stores content that providers want back and clients cannot carry: reasoning with its proofs, kept per API key under the content
 * of the answer it belongs to, and returned only to the account that may read it. In memory and bounded; a dropped entry costs a
 * model its earlier thoughts, never a request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { FairPool } from "../../../kernel/collections/FairPool.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { Conversation, Part } from "../../../wire/canonical/Conversation.ts"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"
import { alone, Replica, type ReplicaShape } from "../Replica.ts"
import { answerKeys, keepsArgs, proofKey } from "./AnswerKeys.ts"
import { reattach } from "./Reattach.ts"

/** Maker of an answer. */
export interface Origin {
  readonly wire: WireName
  readonly provider: string
  readonly connectionId: string
  readonly model: string
}

export interface OpaqueStateLimits {
  readonly maxAnswers: number
  readonly maxBytes: number
  readonly maxProofs: number
}

export const defaultLimits: OpaqueStateLimits = { maxAnswers: 20_000, maxBytes: 64 * 1_048_576, maxProofs: 50_000 }

export class OpaqueState extends Context.Tag("gateway/plane/state/OpaqueState")<
  OpaqueState,
  {
    /** Keeps an answer whose reasoning its client could not carry. */
    readonly remember: (
      permission: ContentPermission,
      owner: string,
      origin: Origin,
      parts: ReadonlyArray<AnswerPart>
    ) => void
    /** The conversation with everything put back that `target` made itself. */
    readonly attach: (owner: string, target: Origin, conversation: Conversation) => Conversation
    /** Notes whose proofs these are; the client carries them itself. */
    readonly noteProofs: (owner: string, origin: Origin, proofs: ReadonlyArray<string>) => void
    /** Hot: tells whether any proof was noted at all. */
    readonly holdsProofs: () => boolean
    /** Checks whether a proof is known to come from an account or model whose proofs `target` refuses. */
    readonly isForeign: (owner: string, target: Origin, proof: string) => boolean
  }
>() {}

/**
 * Checks whether `target` takes a proof of `origin`: encrypted reasoning is bound to the account, signatures to the
 * provider.
 */
export const accepts = (origin: Origin, target: Origin): boolean =>
  origin.wire === target.wire &&
  origin.provider === target.provider &&
  (origin.wire !== "responses" || origin.connectionId === target.connectionId)

/** Checks whether there is anything in an answer that could be lost on the way through another wire. */
export const isWorthKeeping = (parts: ReadonlyArray<AnswerPart>): boolean =>
  parts.some(
    (part) => part.type === "reasoning" || part.type === "opaque" || ("state" in part && part.state !== undefined)
  )

const hasProofOf = (wire: WireName, parts: ReadonlyArray<Part>): boolean =>
  parts.some((part) => "state" in part && part.state?.wire === wire)

interface Kept {
  readonly owner: string
  readonly origin: Origin
  readonly parts: ReadonlyArray<AnswerPart>
  readonly keys: ReadonlyArray<string>
  readonly bytes: number
}

/** Bytes of a proof's hash and of who has made it. */
const bytesPerProof = 256

export const makeWith = (
  limits: OpaqueStateLimits,
  { kept: keptEverywhere }: ReplicaShape = alone
): Context.Tag.Service<OpaqueState> => {
  const byKey = new Map<string, number>()
  const answers = new FairPool<number, Kept>({
    ownerOf: ({ owner }) => owner,
    capacity: limits.maxAnswers,
    maxWeight: limits.maxBytes,
    weightOf: ({ bytes }) => bytes,
    // A later answer that said the same has taken the key over.
    onRemove: (id, { keys }) => keys.forEach((key) => byKey.get(key) === id && byKey.delete(key))
  })
  const proofs = new FairPool<string, { readonly owner: string; readonly origin: Origin }>({
    capacity: limits.maxProofs,
    ownerOf: ({ owner }) => owner
  })
  let lastId = 0

  /** In every process: the next turn of a conversation may come to another one. */
  const keep = keptEverywhere(
    "answer",
    (owner: string, origin: Origin, parts: ReadonlyArray<AnswerPart>, bytes: number): void => {
      const keys = answerKeys(owner, parts)
      if (keys.length === 0) return
      lastId += 1
      for (const key of keys) byKey.set(key, lastId)
      answers.set(lastId, { owner, origin, parts, keys, bytes })
    },
    (_owner, _origin, _parts, bytes) => bytes
  )

  const remember: Context.Tag.Service<OpaqueState>["remember"] = (_permission, owner, origin, parts) => {
    if (!isWorthKeeping(parts)) return
    const size = JSON.stringify(parts).length
    if (size <= limits.maxBytes) keep(owner, origin, parts, size)
  }

  const find = (owner: string, parts: ReadonlyArray<Part>): Kept | null => {
    for (const key of answerKeys(owner, parts)) {
      const id = byKey.get(key)
      const kept = id === undefined ? undefined : answers.peek(id)
      if (id === undefined || kept === undefined || !keepsArgs(kept.parts, parts)) continue
      answers.get(id)
      return kept
    }
    return null
  }

  const attach = (owner: string, target: Origin, conversation: Conversation): Conversation =>
    answers.size === 0
      ? conversation
      : reattach(conversation, (parts) => {
          if (hasProofOf(target.wire, parts)) return null
          const kept = find(owner, parts)
          return kept !== null && kept.origin.model === target.model && accepts(kept.origin, target) ? kept.parts : null
        })

  const noteKeys = keptEverywhere(
    "proofs",
    (owner: string, origin: Origin, keys: ReadonlyArray<string>): void => {
      for (const key of keys) proofs.set(key, { owner, origin })
    },
    (_owner, _origin, keys) => keys.length * bytesPerProof
  )

  const noteProofs = (owner: string, origin: Origin, noted: ReadonlyArray<string>): void => {
    if (noted.length === 0) return
    noteKeys(
      owner,
      origin,
      noted.map((proof) => proofKey(owner, proof))
    )
  }

  const isForeign = (owner: string, target: Origin, proof: string): boolean => {
    const noted = proofs.peek(proofKey(owner, proof))
    return noted !== undefined && !accepts(noted.origin, target)
  }

  return OpaqueState.of({ remember, attach, noteProofs, holdsProofs: () => proofs.size > 0, isForeign })
}

export const layer: Layer.Layer<OpaqueState> = Layer.effect(
  OpaqueState,
  Effect.map(Replica, (replica) => makeWith(defaultLimits, replica))
)
