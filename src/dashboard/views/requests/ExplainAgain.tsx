/** Decides the model id of a request once more, as things are now, and shows the decision beside the one that was. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { routingExplain, type routingDecision } from "../../api/calls.generated.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/requests.ts"
import { Decision } from "../../ui/decision/Decision.tsx"

type Decided = AnswerOf<typeof routingDecision>["decision"]

interface Properties {
  readonly decision: Decided
  readonly apiKeyId: string | null
}

const changeOf = (before: Decided, now: Decided): string => {
  const [first] = now.order
  if (first === undefined) return words.again.none
  return first === before.order[0] ? words.again.same : words.again.other(visible(first))
}

export const ExplainAgain = ({ apiKeyId, decision }: Properties) => {
  const { isBusy, problem: error, run } = useWork([], true)
  const now = useSignal<Decided | null>(null)
  const body = { model: decision.requestedModel, ...(apiKeyId === null ? {} : { apiKeyId }) }
  const explain = (): void =>
    void run(async () => {
      now.value = (await routingExplain({ body })).decision
    })
  return (
    <section class="stack" aria-label={words.again.title}>
      <div class="buttons">
        <button type="button" class="button" disabled={isBusy.value} onClick={explain}>
          {words.again.title}
        </button>
        <span class="quiet">{words.again.means}</span>
      </div>
      {error.value !== null && <Failure error={error.value} />}
      {now.value !== null && (
        <>
          <h3>{words.again.now}</h3>
          <p role="status">{changeOf(decision, now.value)}</p>
          <Decision decision={now.value} />
          <CopyAs call={routingExplain} body={body} />
        </>
      )}
    </section>
  )
}
