/** A decision record as it is stored: of bounded size, whatever ids clients and operators choose. Pure. */
import type { AttemptView, DecisionRecord } from "../../domain/Decision.ts"

/** Candidates, and places of the order. */
export const maxCandidates = 100
export const maxNameChars = 512
/** Small lists that the gateway fills itself. */
const maxListed = 100

const short = (text: string): string => (text.length <= maxNameChars ? text : text.slice(0, maxNameChars))
const orNull = (text: string | null): string | null => (text === null ? null : short(text))

const shortAttempt = (attempt: AttemptView): AttemptView => ({ ...attempt, model: short(attempt.model) })

/** The record holds `maxCandidates` at most already (`recordOf`); names, texts and lists are cut here. */
export const bounded = (record: DecisionRecord): DecisionRecord => ({
  ...record,
  requestedModel: short(record.requestedModel),
  ...(record.fallbackModel === undefined ? {} : { fallbackModel: short(record.fallbackModel) }),
  combo: orNull(record.combo),
  ...(record.reason === undefined ? {} : { reason: short(record.reason) }),
  candidates: record.candidates.map((candidate) => ({
    ...candidate,
    model: short(candidate.model),
    excluded: candidate.excluded === null ? null : { ...candidate.excluded, detail: short(candidate.excluded.detail) }
  })),
  order: record.order.slice(0, maxCandidates).map(short),
  attempts: record.attempts.slice(0, maxListed).map(shortAttempt),
  chosen: orNull(record.chosen),
  relaxedFilters: record.relaxedFilters.slice(0, maxListed).map(short)
})
