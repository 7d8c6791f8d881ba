/** Answers why a request did not go to a target, whichever is typed: a candidate, one without a connection, one that no provider has. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { routingExplain, type routingDecision } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { Failure } from "../../ui/Failure.tsx"
import { ModelInput } from "../../ui/ModelInput.tsx"
import { type Kind, State } from "../../ui/State.tsx"
import { clockTime, visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/requests.ts"
import { type WhyNot as Answer, whyNotOf, whyNoTarget } from "./whyNot.ts"

type Decided = AnswerOf<typeof routingDecision>["decision"]

const two = (value: number): string => value.toFixed(2)

const textOf = (answer: Answer, asked: string): readonly [Kind, string] => {
  switch (answer._tag) {
    case "Served":
      return ["good", words.whyNot.served]
    case "Tried":
      return ["warning", words.whyNot.tried(answer.reasons.map(visible).join(", "))]
    case "Behind":
      return [
        "quiet",
        answer.score === null || answer.best === null
          ? words.whyNot.behind(answer.place)
          : words.whyNot.scored(answer.place, two(answer.score), two(answer.best))
      ]
    case "NoTarget":
      return ["quiet", answer.isShortened ? words.whyNot.notShown : words.whyNot.noTarget(visible(asked))]
    case "LeftOut":
    case "Unusable": {
      const { detail, until } = answer.exclusion
      const why = `${visible(detail)}${until === null ? "" : ` (${words.until(clockTime(until))})`}`
      return ["warning", answer._tag === "LeftOut" ? words.whyNot.leftOut(why) : words.whyNot.unusable(why)]
    }
  }
}

interface Properties {
  readonly decision: Decided
  readonly apiKeyId: string | null
}

export const WhyNot = ({ apiKeyId, decision }: Properties) => {
  const id = useId()
  const target = useSignal("")
  const answer = useSignal<Answer | null>(null)
  const { forget, isBusy, problem: error, run } = useWork([], true)
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault()
    const wanted = target.value.trim()
    if (wanted === "") return
    await run(async () => {
      answer.value = whyNotOf(decision, wanted)
      if (answer.value !== null) return
      const body = { model: wanted, ...(apiKeyId === null ? {} : { apiKeyId }) }
      answer.value = whyNoTarget(decision, (await routingExplain({ body })).decision)
    })
  }
  const told = answer.value === null ? null : textOf(answer.value, decision.requestedModel)
  return (
    <section class="stack" aria-label={words.whyNot.title}>
      <form class="inline-form" noValidate onSubmit={(event) => void ask(event)}>
        <label for={id}>{words.whyNot.label}</label>
        <ModelInput
          id={id}
          placeholder="provider/model"
          value={target.value}
          onValue={(value) => {
            target.value = value
            answer.value = null
            forget()
          }}
        />
        <button type="submit" class="button" disabled={isBusy.value || target.value.trim() === ""}>
          {words.whyNot.ask}
        </button>
      </form>
      {told !== null && (
        <p role="status">
          <State kind={told[0]}>{told[1]}</State>
        </p>
      )}
      {error.value !== null && (
        <>
          <p>{words.whyNot.cannot}</p>
          <Failure error={error.value} />
        </>
      )}
    </section>
  )
}
