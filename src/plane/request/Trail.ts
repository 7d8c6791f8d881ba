/**
 * History of one request: the calls made for it, the targets left out, the wire asked last. Written by failover as it goes, read by the
 * response headers and by settlement. Every other fact of a request stays as it was when it was opened.
 */
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { StreamFacts } from "../../wire/WireCodec.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Unready } from "../routing/health/TargetHealth.ts"
import type { EarlierPart } from "./AnswerReport.ts"

const endedMs = ({ latencyMs, startedMs }: AttemptRecord): number => startedMs + latencyMs

/** State of the request now. Trails of calls made at once share that of their request. */
class Live {
  /** Number of calls so far. */
  calls = 0
  /** Target of the call under way that began last; null: none is under way. */
  target: Target | null = null
  /** The stream that the client gets, as far as it was read; null: none. */
  facts: StreamFacts | null = null
  /** The client has the beginning of a stream. */
  hasContent = false
}

export class Trail {
  readonly live: Live
  #attempts: Array<AttemptRecord> = []
  #exclusions: Map<Target, Unready> | null = null
  #targetWire: WireName | null = null
  #egress: string | null = null
  #charged: ReadonlyArray<EarlierPart> = nothing
  #headers: ReadonlyArray<string> = noHeaders

  constructor(live = new Live()) {
    this.live = live
  }

  /** One per call, in the order in which they ended. */
  get attempts(): ReadonlyArray<AttemptRecord> {
    return this.#attempts
  }

  /** Targets that were left out, and why. */
  get exclusions(): ReadonlyMap<Target, Unready> {
    return this.#exclusions ?? none
  }

  /** Wire of the latest upstream call; null before the first. */
  get targetWire(): WireName | null {
    return this.#targetWire
  }

  /** Route of the latest upstream call: `direct`, or the name of its proxy; null before the first. */
  get egress(): string | null {
    return this.#egress
  }

  /** Calls beside the one that answered which belong on the bill: those that another one was faster than. */
  get charged(): ReadonlyArray<EarlierPart> {
    return this.#charged
  }

  /** Returns the headers that features add to the answer: name, value, name, value, …. */
  get headers(): ReadonlyArray<string> {
    return this.#headers
  }

  /** `value`: printable ASCII. */
  addHeader(name: string, value: string): void {
    this.#headers = [...this.#headers, name, value]
  }

  charge(part: EarlierPart): void {
    this.#charged = [...this.#charged, part]
  }

  asked({ egress, targetWire }: Pick<Trail, "egress" | "targetWire">): void {
    this.#targetWire = targetWire
    this.#egress = egress
  }

  /** Hot: a call begins. Returns which one of the request it is, from 1. */
  begins(target: Target): number {
    const { live } = this
    live.calls += 1
    live.target = target
    return live.calls
  }

  called(attempt: AttemptRecord): void {
    this.#attempts.push(attempt)
    const { live } = this
    if (live.target?.account.connection.id === attempt.connectionId && live.target.model === attempt.model) {
      live.target = null
      live.facts = null
    }
  }

  /** Hot: a stream is read. */
  reads(facts: StreamFacts): void {
    this.live.facts = facts
  }

  /** Hot: the client gets the beginning of a stream. False where it had one already. */
  streams(): boolean {
    const { live } = this
    if (live.hasContent) return false
    live.hasContent = true
    return true
  }

  /** Null: it is asked all the same. */
  leftOut(target: Target, reason: Unready | null): void {
    if (reason === null) this.#exclusions?.delete(target)
    else (this.#exclusions ??= new Map()).set(target, reason)
  }

  /** One that goes its own way from here: for one of several calls, or several requests, made at once. */
  branch(): Trail {
    const branch = new Trail(this.live)
    branch.#attempts = this.#attempts.slice()
    branch.#headers = this.#headers
    branch.#exclusions = this.#exclusions === null ? null : new Map(this.#exclusions)
    return branch
  }

  /** Takes over what happened on other trails at the same time. */
  join(attempts: ReadonlyArray<AttemptRecord>, exclusions: ReadonlyMap<Target, Unready>): void {
    this.#attempts.push(...attempts.toSorted((one, other) => endedMs(one) - endedMs(other)))
    for (const [target, reason] of exclusions) this.leftOut(target, reason)
  }
}

const none: ReadonlyMap<Target, Unready> = new Map()
const nothing: ReadonlyArray<EarlierPart> = []
const noHeaders: ReadonlyArray<string> = []
