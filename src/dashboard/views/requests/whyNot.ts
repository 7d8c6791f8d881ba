/**
 * Says why a request did not go to a target: by its decision where the target was a candidate; else by how the target is decided when it is asked for by
 * itself, for the same caller. Pure.
 */
import type { routingDecision } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"

type Decided = AnswerOf<typeof routingDecision>["decision"]
type Candidate = Decided["candidates"][number]
type Exclusion = NonNullable<Candidate["excluded"]>

export type WhyNot =
  | { readonly _tag: "Served" }
  | { readonly _tag: "Tried"; readonly reasons: ReadonlyArray<string> }
  | { readonly _tag: "LeftOut"; readonly exclusion: Exclusion }
  /** It was behind the one that served; `score`, `best`: null where the strategy has none. */
  | { readonly _tag: "Behind"; readonly place: number; readonly score: number | null; readonly best: number | null }
  /** It is no target of what was asked for, and could be called now. */
  | { readonly _tag: "NoTarget"; readonly isShortened: boolean }
  /** The same, and it could not be called either. */
  | { readonly _tag: "Unusable"; readonly exclusion: Exclusion }

const nameOf = ({ model, provider }: Pick<Candidate, "model" | "provider">): string => `${provider}/${model}`

/** A target may be named whole, by its model, by its provider or by its connection. */
const isNamed = (wanted: string, candidate: Candidate): boolean =>
  [nameOf(candidate), candidate.model, candidate.provider, candidate.connectionId].includes(wanted)

const bestOf = ({ candidates, order }: Decided): number | null => {
  const scores = candidates
    .filter((candidate) => nameOf(candidate) === order[0]?.split("@")[0] && candidate.excluded === null)
    .flatMap(({ score }) => (score === null ? [] : [score]))
  return scores.length === 0 ? null : Math.max(...scores)
}

const byCandidate = (decided: Decided, candidate: Candidate): WhyNot => {
  const calls = decided.attempts.filter(
    ({ connectionId, model }) => connectionId === candidate.connectionId && model === candidate.model
  )
  if (calls.some(({ outcome }) => outcome === "completed")) return { _tag: "Served" }
  if (calls.length > 0)
    return { _tag: "Tried", reasons: calls.map(({ reason, status }) => `${status ?? ""} ${reason}`.trim()) }
  if (candidate.excluded !== null) return { _tag: "LeftOut", exclusion: candidate.excluded }
  const place = decided.order.findIndex((name) => name.split("@")[0] === nameOf(candidate)) + 1
  return { _tag: "Behind", place, score: candidate.score, best: bestOf(decided) }
}

/** The first of these says most about a target that several accounts have. */
const telling: ReadonlyArray<WhyNot["_tag"]> = ["Served", "Tried", "Behind", "LeftOut"]

/** Null: the target is none of the candidates; how it is decided by itself says why. */
export const whyNotOf = (decided: Decided, wanted: string): WhyNot | null => {
  const answers = decided.candidates
    .filter((candidate) => isNamed(wanted, candidate))
    .map((candidate) => byCandidate(decided, candidate))
  return answers.toSorted((one, other) => telling.indexOf(one._tag) - telling.indexOf(other._tag))[0] ?? null
}

/** By the decision over the target alone. */
export const whyNoTarget = (decided: Decided, alone: Decided): WhyNot => {
  const [exclusion] = alone.candidates.flatMap(({ excluded }) => (excluded === null ? [] : [excluded]))
  const isCallable = alone.candidates.some(({ excluded }) => excluded === null)
  return exclusion !== undefined && !isCallable
    ? { _tag: "Unusable", exclusion }
    : { _tag: "NoTarget", isShortened: (decided.candidatesLeftOut ?? 0) > 0 }
}
