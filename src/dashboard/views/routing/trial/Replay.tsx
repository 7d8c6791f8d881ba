/** Decides requests of the log anew, and says what would have been another. */
import { useSignal } from "@preact/signals"
import { routingReplay } from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { withProgress } from "../../../api/progress.ts"
import { count, duration, money, percent, visible } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"
import { type Figure, Figures } from "./Figures.tsx"
import { Panel } from "./Panel.tsx"
import { useRun } from "./run.ts"
import type { Tried } from "./tried.ts"

type Answer = AnswerOf<typeof routingReplay>

const dayMs = 86_400_000

const figuresOf = ({ comparison, replay: own }: Answer): ReadonlyArray<Figure> => {
  const other = comparison?.replay ?? null
  const by = comparison?.difference ?? null
  return [
    {
      name: words.trial.moved,
      mine: own.moved,
      other: other?.moved ?? null,
      difference: by?.moved ?? null,
      format: count,
      better: null
    },
    {
      name: words.trial.cost,
      mine: own.cost.afterUsd,
      other: other?.cost.afterUsd ?? null,
      difference: by?.costUsd ?? null,
      format: money,
      better: "less"
    },
    {
      name: words.trial.mean,
      mine: own.latency.meanAfterMs,
      other: other?.latency.meanAfterMs ?? null,
      difference: by?.meanMs ?? null,
      format: duration,
      better: "less"
    }
  ]
}

const Shares = ({ providers }: Answer["replay"]) => (
  <table class="plain-table">
    <thead>
      <tr>
        <th>{words.trial.provider}</th>
        <th class="number">{words.trial.before}</th>
        <th class="number">{words.trial.after}</th>
      </tr>
    </thead>
    <tbody>
      {providers.map(({ provider, shareAfter, shareBefore }) => (
        <tr key={provider}>
          <th scope="row">{visible(provider)}</th>
          <td class="number">{percent(shareBefore)}</td>
          <td class="number">{percent(shareAfter)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Report = ({ answer }: { readonly answer: Answer }) => {
  const { cost, latency, leftOut, notes, replayed } = answer.replay
  if (replayed === 0) return <p>{words.trial.nothingRecorded}</p>
  return (
    <>
      <p>
        {words.trial.replayed(count(replayed))}
        {leftOut > 0 && `, ${words.trial.leftOutRows(count(leftOut))}`}
      </p>
      <Figures figures={figuresOf(answer)} isCompared={answer.comparison !== undefined} />
      <p class="quiet">
        {words.trial.recorded(
          money(cost.beforeUsd),
          latency.meanBeforeMs === null ? "–" : duration(latency.meanBeforeMs)
        )}
      </p>
      <h4>{words.trial.shares}</h4>
      <Shares {...answer.replay} />
      <details>
        <summary>{words.trial.notes}</summary>
        <ul>
          {notes.map((note) => (
            <li key={note}>{visible(note)}</li>
          ))}
        </ul>
      </details>
    </>
  )
}

export const Replay = ({ tried }: { readonly tried: Tried }) => {
  const sinceMs = useSignal(dayMs)
  const { combo, compareWith } = tried
  const question = combo === null ? null : JSON.stringify({ tried, sinceMs: sinceMs.value })
  const { run, start, stop } = useRun<Answer>(question, (signal, tell) =>
    withProgress(
      routingReplay,
      {
        body: {
          ...(combo === null ? {} : { combo }),
          ...(compareWith === "" ? {} : { compareWith }),
          sinceMs: sinceMs.value
        },
        signal
      },
      tell
    )
  )
  return (
    <Panel
      title={words.trial.replay}
      run={run.value}
      start={start}
      stop={stop}
      canRun={question !== null}
      fields={
        <div class="field">
          <label for="trial-since">{words.trial.since}</label>
          <select
            id="trial-since"
            class="input"
            value={sinceMs.value}
            onChange={(event) => {
              sinceMs.value = Number(event.currentTarget.value)
            }}
          >
            {Object.entries(words.trial.spans).map(([ms, name]) => (
              <option key={ms} value={ms}>
                {name}
              </option>
            ))}
          </select>
        </div>
      }
    >
      {(answer) => <Report answer={answer} />}
    </Panel>
  )
}
