/** Shows why a request went where it went: the order of the targets with their scores, who was left out and why, and the calls that were made. */
import type { AnswerOf } from "../../api/client.ts"
import type { routingDecision } from "../../api/calls.generated.ts"
import { State } from "../State.tsx"
import { clockTime, duration, visible } from "../format.ts"
import { words } from "../../words/requests.ts"
import { partsOf, type ScorePart } from "./score.ts"
import { TimeLine } from "./TimeLine.tsx"
import type { WholeTime } from "./timeParts.ts"

type Decision = AnswerOf<typeof routingDecision>["decision"]
type Candidate = Decision["candidates"][number]

const nameOf = ({ model, provider }: { readonly provider: string; readonly model: string }): string =>
  visible(`${provider}/${model}`)

const two = (value: number): string => value.toFixed(2)

/** The parts of a score as pieces of one bar; each is named with its numbers. */
const ScoreBar = ({ parts }: { readonly parts: ReadonlyArray<ScorePart> }) => (
  <span class="score-bar" role="img" aria-label={parts.map(({ name, value }) => `${name} ${two(value)}`).join(", ")}>
    {parts.map(({ factor, name, value, weight }, index) => (
      <span
        key={name}
        class={`piece series-${(index % 6) + 1}`}
        style={{ inlineSize: `${Math.max(0, value) * 100}%` }}
        title={`${name}: ${weight} × ${factor} = ${value}`}
      />
    ))}
  </span>
)

/** Most strategies score nothing: a bar without pieces would be a picture of nothing. */
const Parts = ({ parts }: { readonly parts: ReadonlyArray<ScorePart> }) =>
  parts.length === 0 ? <span class="quiet">–</span> : <ScoreBar parts={parts} />

const Outcome = ({ candidate, decision }: { readonly candidate: Candidate; readonly decision: Decision }) => {
  const calls = decision.attempts.filter(
    ({ connectionId, model }) => connectionId === candidate.connectionId && model === candidate.model
  )
  if (calls.length === 0) return <span class="quiet">–</span>
  return (
    <>
      {calls.map(({ latencyMs, outcome, reason, startedAt, status }) => (
        <State key={startedAt} kind={outcome === "completed" ? "good" : outcome === "failed" ? "bad" : "warning"}>
          {outcome === "completed" ? words.served : `${status ?? ""} ${visible(reason)}`} {duration(latencyMs)}
        </State>
      ))}
    </>
  )
}

/** Sorts candidates as they are called; several accounts of one model by their scores. */
const inOrder = (candidates: ReadonlyArray<Candidate>, order: ReadonlyArray<string>): ReadonlyArray<Candidate> => {
  const place = ({ model, provider }: Candidate): number => {
    const at = order.indexOf(`${provider}/${model}`)
    return at === -1 ? order.length : at
  }
  return candidates.toSorted((one, other) => place(one) - place(other) || (other.score ?? 0) - (one.score ?? 0))
}

const Candidates = ({ decision }: { readonly decision: Decision }) => {
  const eligible = inOrder(
    decision.candidates.filter(({ excluded }) => excluded === null),
    decision.order
  )
  const leftOut = decision.candidates.filter(({ excluded }) => excluded !== null)
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={words.candidates}>
      <table class="plain-table">
        <thead>
          <tr>
            <th>#</th>
            <th>{words.candidates}</th>
            <th class="number">{words.score}</th>
            <th>{words.factors}</th>
            <th>{words.columns.status}</th>
          </tr>
        </thead>
        <tbody>
          {eligible.map((candidate, index) => (
            <tr key={`${candidate.connectionId} ${candidate.model}`}>
              <td>{index + 1}</td>
              <td>{nameOf(candidate)}</td>
              <td class="number" title={candidate.score === null ? undefined : String(candidate.score)}>
                {candidate.score === null ? "–" : two(candidate.score)}
              </td>
              <td>
                <Parts parts={partsOf(decision.weights, candidate.factors)} />
              </td>
              <td>
                <Outcome candidate={candidate} decision={decision} />
              </td>
            </tr>
          ))}
          {leftOut.map((candidate) => (
            <tr key={`${candidate.connectionId} ${candidate.model}`} class="quiet">
              <td>–</td>
              <td>{nameOf(candidate)}</td>
              <td class="number">{candidate.score === null ? "–" : two(candidate.score)}</td>
              <td colSpan={2}>
                {words.leftOut}: {visible(candidate.excluded?.detail ?? "")}
                {typeof candidate.excluded?.until === "string" &&
                  ` ${words.until(clockTime(candidate.excluded.until))}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Says what else was decided: what stood in for the model, what was not asked for any more, what is not shown. */
const Notes = ({ decision }: { readonly decision: Decision }) => {
  const { candidatesLeftOut = 0, fallbackModel, plugins = [], relaxedFilters } = decision
  const notes = [
    fallbackModel === undefined ? null : words.notes.standIn(visible(fallbackModel)),
    relaxedFilters.length === 0 ? null : words.notes.relaxed(relaxedFilters.map(visible).join(", ")),
    candidatesLeftOut === 0 ? null : words.notes.more(candidatesLeftOut),
    ...plugins.map(({ action, hook, ms, name }) => words.notes.plugin(visible(name), hook, action, duration(ms)))
  ].filter((note) => note !== null)
  if (notes.length === 0) return null
  return (
    <ul class="quiet">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  )
}

interface Properties {
  readonly decision: Decision
  /** Times of the request itself; absent: not known. */
  readonly whole?: WholeTime | null
}

export const Decision = ({ decision, whole = null }: Properties) => (
  <div class="stack">
    {(decision.attempts.length > 0 || whole !== null) && (
      <div>
        <h3>{words.attempts(decision.attempts.length)}</h3>
        <TimeLine calls={decision.attempts} whole={whole} />
      </div>
    )}
    <div>
      <h3>{words.why}</h3>
      <p>
        {words.chose(decision.strategy)} {visible(decision.reason ?? "")}
      </p>
      <Notes decision={decision} />
    </div>
    <Candidates decision={decision} />
  </div>
)
