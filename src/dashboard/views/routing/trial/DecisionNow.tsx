/** The order in which the combo would be called now, beside that of what it is compared with. */
import { routingExplain } from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { Decision } from "../../../ui/decision/Decision.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"
import { Panel } from "./Panel.tsx"
import { useRun } from "./run.ts"
import type { Tried } from "./tried.ts"

type DecisionView = AnswerOf<typeof routingExplain>["decision"]

interface Both {
  readonly own: DecisionView
  readonly other: DecisionView | null
}

/** The same chance for both, so that they differ by what was changed. */
const seed = 1
const body = { messages: [{ role: "user", content: "Hello" }] }
/** Places that are shown side by side. */
const mostShown = 10

const ask = async ({ combo, compareWith }: Tried, signal: AbortSignal): Promise<Both> => {
  const [own, other] = await Promise.all([
    routingExplain({ body: { ...(combo === null ? {} : { combo }), body, seed }, signal }),
    compareWith === "" ? null : routingExplain({ body: { model: compareWith, body, seed }, signal })
  ])
  return { own: own.decision, other: other?.decision ?? null }
}

const LeftOut = ({ decision }: { readonly decision: DecisionView }) => {
  const without = decision.candidates.filter(({ excluded }) => excluded !== null)
  if (without.length === 0) return null
  return (
    <p class="quiet">
      {words.trial.leftOut}: {without.length}
    </p>
  )
}

const Orders = ({ other, own }: Both) => {
  const places = Array.from({ length: Math.min(mostShown, Math.max(own.order.length, other?.order.length ?? 0)) })
  const isSameOrder = other !== null && own.order.join("\n") === other.order.join("\n")
  if (own.order.length === 0) return <State kind="bad">{words.explain.nobody}</State>
  return (
    <>
      <table class="plain-table">
        <thead>
          <tr>
            <th>#</th>
            <th>{words.trial.figures.mine}</th>
            {other !== null && <th>{words.trial.figures.other}</th>}
          </tr>
        </thead>
        <tbody>
          {places.map((_, index) => (
            // The place is what a row is.
            <tr key={index}>
              <td>{index + 1}</td>
              <td>{visible(own.order[index] ?? "–")}</td>
              {other !== null && <td>{visible(other.order[index] ?? "–")}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {isSameOrder && <p class="quiet">{words.trial.same}</p>}
    </>
  )
}

export const DecisionNow = ({ tried }: { readonly tried: Tried }) => {
  const question = tried.combo === null ? null : JSON.stringify(tried)
  const { run, start, stop } = useRun<Both>(question, (signal) => ask(tried, signal))
  return (
    <Panel title={words.trial.decision} run={run.value} start={start} stop={stop} canRun={question !== null}>
      {(both) => (
        <>
          <Orders {...both} />
          <LeftOut decision={both.own} />
          <details>
            <summary>{words.trial.taken}</summary>
            <Decision decision={both.own} />
          </details>
        </>
      )}
    </Panel>
  )
}
