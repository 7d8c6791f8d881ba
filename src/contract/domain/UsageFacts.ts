/**
 * The facts that usage rows share: who asked, for what, what served it and how it ended. What is made of them (the JSON of names, the
 * parameters of a statement, a series of metrics) is made once for all rows that share them.
 */
import type { UsageRow } from "./Usage.ts"

export type UsageFacts = Pick<
  UsageRow,
  | "apiKeyId"
  | "principal"
  | "requestedModel"
  | "combo"
  | "provider"
  | "connectionId"
  | "model"
  | "sourceWire"
  | "targetWire"
  | "streamed"
  | "outcome"
  | "status"
  | "attempts"
  | "priced"
  | "price"
  | "usageSource"
  | "error"
  | "batchId"
  | "answeredFrom"
  | "egress"
  | "tags"
>

const factsOf = (row: UsageFacts): UsageFacts => ({
  apiKeyId: row.apiKeyId,
  principal: row.principal,
  requestedModel: row.requestedModel,
  combo: row.combo,
  provider: row.provider,
  connectionId: row.connectionId,
  model: row.model,
  sourceWire: row.sourceWire,
  targetWire: row.targetWire,
  streamed: row.streamed,
  outcome: row.outcome,
  status: row.status,
  attempts: row.attempts,
  priced: row.priced,
  price: row.price,
  usageSource: row.usageSource,
  error: row.error,
  batchId: row.batchId,
  answeredFrom: row.answeredFrom,
  egress: row.egress,
  tags: row.tags
})

const isSame = (one: UsageFacts, other: UsageFacts): boolean =>
  one.requestedModel === other.requestedModel &&
  one.apiKeyId === other.apiKeyId &&
  one.principal === other.principal &&
  one.connectionId === other.connectionId &&
  one.model === other.model &&
  one.status === other.status &&
  one.attempts === other.attempts &&
  one.streamed === other.streamed &&
  one.outcome === other.outcome &&
  one.combo === other.combo &&
  one.provider === other.provider &&
  one.sourceWire === other.sourceWire &&
  one.targetWire === other.targetWire &&
  one.priced === other.priced &&
  one.price === other.price &&
  one.usageSource === other.usageSource &&
  one.error === other.error &&
  one.batchId === other.batchId &&
  one.answeredFrom === other.answeredFrom &&
  one.egress === other.egress &&
  one.tags === other.tags

interface Known<A> {
  readonly facts: UsageFacts
  readonly value: A
}

/** Most entries in all; beyond it all are dropped. */
const mostKept = 1_000
/** Most entries of one caller and model. */
const mostAlike = 16
/** Characters of the texts of facts that are kept. */
const maxChars = 1_000

const charsOf = ({ error, model, requestedModel, tags }: UsageFacts): number =>
  requestedModel.length + (model?.length ?? 0) + (error?.length ?? 0) + (tags?.length ?? 0)

/** A value per facts, made by `make` when they are first seen, and again when they were dropped. */
export class PerFacts<A> {
  readonly #make: (facts: UsageFacts) => A
  readonly #known = new Map<string, Map<string | null, Array<Known<A>>>>()
  #kept = 0
  #latest: Known<A> | null = null

  constructor(make: (facts: UsageFacts) => A) {
    this.#make = make
  }

  /** Hot. */
  of(row: UsageFacts): A {
    const latest = this.#latest
    if (latest !== null && isSame(latest.facts, row)) return latest.value
    const alike = this.#known.get(row.requestedModel)?.get(row.apiKeyId)
    if (alike !== undefined) {
      for (const known of alike) {
        if (!isSame(known.facts, row)) continue
        this.#latest = known
        return known.value
      }
    }
    return this.#keep(row)
  }

  #keep(row: UsageFacts): A {
    const facts = factsOf(row)
    const value = this.#make(facts)
    if (charsOf(facts) > maxChars) return value
    if (this.#kept >= mostKept) {
      this.#known.clear()
      this.#kept = 0
    }
    const ofModel = this.#known.get(facts.requestedModel) ?? new Map<string | null, Array<Known<A>>>()
    const alike = ofModel.get(facts.apiKeyId) ?? []
    const known = { facts, value }
    this.#latest = known
    if (alike.length < mostAlike) this.#kept += 1
    else alike.shift()
    alike.push(known)
    ofModel.set(facts.apiKeyId, alike)
    this.#known.set(facts.requestedModel, ofModel)
    return value
  }
}
