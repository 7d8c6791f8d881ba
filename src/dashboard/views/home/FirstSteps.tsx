/** Shows the steps of a new gateway to its first answer, each with its state: what is done of them, and which is next. */
import type { ComponentChildren } from "preact"
import { ask } from "../../api/ask.ts"
import { gatewayUrl } from "../../api/client.ts"
import { refresh } from "../../api/queries.ts"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Question } from "../../ui/parts/Question.tsx"
import { State } from "../../ui/State.tsx"
import { count } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/home.ts"
import type { Steps } from "./steps.ts"

const question = (url: string): string =>
  `curl ${url}v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"auto","messages":[{"role":"user","content":"Say hello in one word."}]}'`

interface StepProperties {
  readonly number: number
  readonly title: string
  readonly isDone: boolean
  readonly isNext: boolean
  readonly children: ComponentChildren
}

const Step = ({ children, isDone, isNext, number, title }: StepProperties) => (
  <li class={isNext ? "card step next" : "card step"} aria-current={isNext ? "step" : undefined}>
    <span class="step-number" aria-hidden="true">
      {number}
    </span>
    <div class="step-body">
      <div class="card-head">
        <h3>{title}</h3>
        <State kind={isDone ? "good" : "quiet"} icon={isDone ? "good" : "wait"}>
          {isDone ? words.steps.states.done : isNext ? words.steps.states.next : words.steps.states.later}
        </State>
      </div>
      {children}
    </div>
  </li>
)

const askAuto = ({ model, prompt }: { readonly model: string; readonly prompt: string }) =>
  ask({ model, prompt, asKey: null })

export const FirstSteps = ({ steps: { connections, hasClient, isAnswered, isAsked } }: { readonly steps: Steps }) => {
  const { steps } = words
  const hasProvider = connections > 0
  return (
    <section class="stack first-steps" aria-labelledby="steps">
      <h2 id="steps">{steps.title}</h2>
      <p class="quiet">{steps.lead}</p>
      <ol class="steps">
        <Step number={1} title={steps.provider} isDone={hasProvider} isNext={!hasProvider}>
          <p class="quiet">{hasProvider ? steps.providerDone(count(connections), connections) : steps.providerHint}</p>
          <p>
            <a class={hasProvider ? "button" : "button main-action"} href={placeOf("providers/add")}>
              <Icon name="add" /> {hasProvider ? steps.providerMore : steps.providerAction}
            </a>
          </p>
        </Step>
        <Step number={2} title={steps.question} isDone={isAnswered} isNext={hasProvider && !isAnswered}>
          <p class="quiet">
            {isAnswered
              ? steps.questionDone
              : !hasProvider
                ? steps.questionWaits
                : isAsked
                  ? steps.questionFailed
                  : steps.questionHint}
          </p>
          {hasProvider && (
            <>
              <Question models={[]} firstModel="auto" ask={askAuto} onAnswered={() => void refresh("steps")} />
              <details>
                <summary>{steps.asCurl}</summary>
                <Copyable text={question(gatewayUrl)} />
              </details>
            </>
          )}
        </Step>
        <Step number={3} title={steps.client} isDone={hasClient} isNext={isAnswered && !hasClient}>
          <p class="quiet">{hasClient ? steps.clientDone : steps.clientHint}</p>
          <Copyable text={`${gatewayUrl}v1`} />
          <p class="buttons">
            <a class="button" href={placeOf("keys?create=1")}>
              {steps.createKey}
            </a>
            <a class="button" href={placeOf("system/tools")}>
              {steps.tools}
            </a>
          </p>
        </Step>
      </ol>
      {hasProvider && (
        <p>
          <a href={placeOf("?show=all")}>{steps.all}</a>
        </p>
      )}
    </section>
  )
}
