/**
 * Recorded traffic under another policy: each usage row is decided anew, and the new result is compared with the recorded one. Pure.
 * A row has tokens, wire, streaming and time; never tools, images, schemas, the task or the session, so no decision uses them.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { costNanoUsd } from "../usage/Cost.ts"
import type { Candidate, Features } from "../../plane/routing/candidate/Candidate.ts"
import type { DecidePolicy } from "../../plane/routing/decide/Decide.ts"
import { targetKey, targetKeyOf } from "../../plane/routing/resolve/TargetKey.ts"
import type { Resolution } from "../../plane/routing/resolve/ModelResolver.ts"
import { streamsOf } from "./Distributions.ts"
import { Latencies } from "./Latencies.ts"
import type { RecordedRow, RecordedRows } from "./Recorded.ts"
import { makeDecider, noSession, plainFeatures } from "./Decider.ts"

export interface ReplayInput {
  readonly model: string
  readonly resolution: Resolution
  /** Candidates of the new policy's targets, all of them ready to be called. */
  readonly candidates: ReadonlyArray<Candidate>
  readonly rows: RecordedRows
  readonly seed: number
  readonly price: (provider: string, model: string) => ModelPrice | null
  readonly policy: DecidePolicy
}

export interface ShareChange {
  readonly provider: string
  /** Requests of the record, and of the replay. */
  readonly before: number
  readonly after: number
  readonly shareBefore: number
  readonly shareAfter: number
}

export interface ReplayReport {
  readonly model: string
  readonly strategy: string
  readonly seed: number
  /** Rows that were decided anew. */
  readonly replayed: number
  /** Rows of requests that failed or were broken off. */
  readonly leftOut: number
  /** Requests that another connection or model would have served. */
  readonly moved: number
  readonly providers: ReadonlyArray<ShareChange>
  readonly cost: {
    readonly beforeUsd: number
    readonly afterUsd: number
    readonly differenceUsd: number
    /** Requests without a known price, which count as 0. */
    readonly unpricedBefore: number
    readonly unpricedAfter: number
  }
  readonly latency: {
    readonly meanBeforeMs: number | null
    readonly meanAfterMs: number | null
    /** Sources of the expected latency of each request. */
    readonly basis: {
      /** Live measurements of the chosen target. */
      readonly live: number
      /** The median of the chosen target's own recorded requests. */
      readonly recorded: number
      /** The request's own recorded latency: nothing is known of the chosen target. */
      readonly unknown: number
    }
  }
  readonly notes: ReadonlyArray<string>
}

const notes = [
  "The record does not say whether a request had tools, images or a schema, what its task was, or of which session it was: each was decided as if it had none.",
  "Targets count as healthy, with nothing under way; quotas, tiers, facts and prices are today's. Fallbacks are not replayed: the first choice counts."
]

const notesOf = ({ strategy }: Resolution): ReadonlyArray<string> =>
  strategy === "fusion"
    ? [
        ...notes,
        "A fusion asks its whole panel and a judge. Only the first of the panel counts here: its real cost is a multiple."
      ]
    : notes

const featuresOf = ({ sourceWire: wire, streamed: stream, tokens }: RecordedRow): Features =>
  plainFeatures({ wire, stream, promptTokens: tokens.in, maxOutputTokens: null })

const recordedKey = ({ connectionId, model }: RecordedRow): string => targetKey(connectionId ?? "", model ?? "")

/**
 * Latency that each request is expected to have: as measured live, else the median of each connection's model in the record, of which each row is added
 * before the first question.
 */
const makeExpectations = () => {
  const latencies = new Map<string, Latencies>()
  const medians = new Map<string, number>()
  const basis = { live: 0, recorded: 0, unknown: 0 }
  const medianOf = (key: string): number | undefined => {
    const known = medians.get(key)
    if (known !== undefined) return known
    const median = latencies.get(key)?.percentile(0.5) ?? undefined
    if (median !== undefined) medians.set(key, median)
    return median
  }
  return {
    basis,
    add: (row: RecordedRow): void => {
      const key = recordedKey(row)
      const known = latencies.get(key) ?? new Latencies()
      known.add(row.latencyMs)
      latencies.set(key, known)
    },
    expectedMs: (chosen: Candidate, row: RecordedRow): number => {
      if (chosen.performance !== null) {
        basis.live += 1
        return chosen.performance.p50Ms
      }
      const median = medianOf(targetKeyOf(chosen.target))
      basis[median === undefined ? "unknown" : "recorded"] += 1
      return median ?? row.latencyMs
    }
  }
}

const add = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

export interface Replay {
  /** Looks at up to `rows` more; false when none is left. */
  readonly run: (rows: number) => boolean
  /** Rows that were decided so far, of `total`. */
  readonly decided: () => number
  readonly total: number
  readonly report: () => ReplayReport
}

export const makeReplay = (input: ReplayInput): Replay => {
  const { candidates, model, price, resolution, rows, seed } = input
  const { add: learn, basis, expectedMs } = makeExpectations()
  const [seeds] = streamsOf(seed, 1)
  if (seeds === undefined) throw new RangeError("no random streams")
  const places = new Map(candidates.map(({ target }, index) => [target, index]))
  /** Candidates after the requests replayed so far. */
  const current = candidates.slice()
  const before = new Map<string, number>()
  const after = new Map<string, number>()
  const deciding = makeDecider(resolution, input.policy, seeds)
  let known = 0
  let next = 0
  let replayed = 0
  let undecided = 0
  let moved = 0
  let costBefore = 0
  let costAfter = 0
  let unpricedBefore = 0
  let unpricedAfter = 0
  let msBefore = 0
  let msAfter = 0

  const replay = (row: RecordedRow): void => {
    const decided = deciding.decide(() => current, featuresOf(row), row.timestampMs, noSession)
    const [first] = decided.order
    const place = first === undefined ? undefined : places.get(first)
    const chosen = place === undefined ? undefined : current[place]
    if (place === undefined || chosen === undefined) {
      undecided += 1
      return
    }
    deciding.commit(decided)
    deciding.served(decided, { target: chosen.target, sessionKey: null, nowMs: row.timestampMs }, () => chosen)
    const provider = chosen.target.account.spec.id
    replayed += 1
    current[place] = { ...chosen, used: chosen.used + 1 }
    add(before, row.provider ?? "-")
    add(after, provider)
    if (targetKeyOf(chosen.target) !== recordedKey(row)) moved += 1
    costBefore += row.costNanoUsd
    if (!row.priced) unpricedBefore += 1
    const rates = price(provider, chosen.target.model)
    if (rates === null) unpricedAfter += 1
    else costAfter += costNanoUsd(row.tokens, rates)
    msBefore += row.latencyMs
    msAfter += expectedMs(chosen, row)
  }

  const run = (count: number): boolean => {
    // What is known of the record is known to its first row, too.
    if (known < rows.length) {
      const upTo = Math.min(rows.length, known + count)
      for (; known < upTo; known += 1) {
        const row = rows.at(known)
        if (row !== undefined) learn(row)
      }
      return true
    }
    const until = Math.min(rows.length, next + count)
    for (; next < until; next += 1) {
      const row = rows.at(next)
      if (row !== undefined) replay(row)
    }
    return next < rows.length
  }

  const mean = (sum: number): number | null => (replayed === 0 ? null : sum / replayed)
  const part = (count: number): number => (replayed === 0 ? 0 : count / replayed)

  const report = (): ReplayReport => ({
    model,
    strategy: resolution.strategy,
    seed,
    replayed,
    leftOut: rows.leftOut,
    moved,
    providers: [...new Set([...before.keys(), ...after.keys()])].toSorted().map((provider) => {
      const [was, is] = [before.get(provider) ?? 0, after.get(provider) ?? 0]
      return { provider, before: was, after: is, shareBefore: part(was), shareAfter: part(is) }
    }),
    cost: {
      beforeUsd: costBefore / nanoUsdPerUsd,
      afterUsd: costAfter / nanoUsdPerUsd,
      differenceUsd: (costAfter - costBefore) / nanoUsdPerUsd,
      unpricedBefore,
      unpricedAfter
    },
    latency: { meanBeforeMs: mean(msBefore), meanAfterMs: mean(msAfter), basis },
    notes:
      undecided === 0
        ? notesOf(resolution)
        : [...notesOf(resolution), `No target would have been chosen for ${undecided} more requests.`]
  })
  return { run, report, decided: () => next, total: rows.length }
}
