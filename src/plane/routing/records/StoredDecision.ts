/** A decision record as it is stored: of bounded size, whatever ids clients and operators choose. Pure. */
import type { AttemptView, DecisionRecord } from "../../../subjects/routing/entity.ts"

/** Candidates, and places of the order. */
export const maxCandidates = 100
export const maxNameChars = 512
/** Small lists that the gateway fills itself. */
const maxListed = 100

export const short = (text: string): string => (text.length <= maxNameChars ? text : text.slice(0, maxNameChars))
const orNull = (text: string | null): string | null => (text === null ? null : short(text))

const shortAttempt = (attempt: AttemptView): AttemptView => ({ ...attempt, model: short(attempt.model) })

type Head = Omit<DecisionRecord, "candidates" | "order">

/** Cuts the parts of a record besides its candidates and its order to a bounded size. */
export const boundedHead = <A extends Head>(head: A): A => ({
  ...head,
  requestedModel: short(head.requestedModel),
  ...(head.fallbackModel === undefined ? {} : { fallbackModel: short(head.fallbackModel) }),
  combo: orNull(head.combo),
  ...(head.reason === undefined ? {} : { reason: short(head.reason) }),
  attempts: head.attempts.slice(0, maxListed).map(shortAttempt),
  chosen: orNull(head.chosen),
  relaxedFilters: head.relaxedFilters.slice(0, maxListed).map(short),
  ...(head.plugins === undefined ? {} : { plugins: head.plugins.slice(0, maxListed) })
})

/** The record holds `maxCandidates` at most already (`recordOf`); names, texts and lists are cut here. */
export const bounded = (record: DecisionRecord): DecisionRecord => ({
  ...boundedHead(record),
  candidates: record.candidates.map((candidate) => ({
    ...candidate,
    model: short(candidate.model),
    excluded: candidate.excluded === null ? null : { ...candidate.excluded, detail: short(candidate.excluded.detail) }
  })),
  order: record.order.slice(0, maxCandidates).map(short)
})
