/** One column: its model, what is its own, and its answer with times, tokens and cost. */
import { useSignal } from "@preact/signals"
import { Failure } from "../../ui/Failure.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { count, duration, money, visible } from "../../ui/format.ts"
import { words } from "../../words/playground.ts"
import { Answer } from "./Answer.tsx"
import { DraftFields } from "./DraftFields.tsx"
import { type Run, tokensPerSecond } from "./estimates.ts"
import { columns, draft, endpoint, type One, removeColumn } from "./store.ts"
import { Why } from "./Why.tsx"

const Facts = ({ run }: { readonly run: Run }) => {
  const speed = tokensPerSecond(run)
  const isOver = run.state !== "running" && run.state !== "waiting"
  const facts = [
    run.firstMs === null ? null : `${duration(run.firstMs)} ${words.first}`,
    speed === null ? null : `~${count(speed)} ${words.perSecond}`,
    run.wholeMs === null || !isOver ? null : `${duration(run.wholeMs)} ${words.whole}`,
    run.tokensIn === null ? null : words.tokens(count(run.tokensIn), count(run.tokensOut ?? 0)),
    run.costUsd === null ? null : words.cost(money(run.costUsd))
  ].filter((fact) => fact !== null)
  return (
    <p class="quiet run-facts" title={words.estimate}>
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </p>
  )
}

const Head = ({ one, place }: { readonly one: One; readonly place: number }) => {
  const label = endpoint.value === "search" ? words.provider(place) : words.model(place)
  return (
    <div class="field">
      <span class="field-head">
        <label for={`model-${place}`}>{label}</label>
        {columns.value.length > 1 && (
          <button
            type="button"
            class="button plain"
            aria-label={words.removeColumn}
            title={words.removeColumn}
            onClick={() => removeColumn(one.id)}
          >
            <Icon name="close" />
          </button>
        )}
      </span>
      <input
        id={`model-${place}`}
        class="input"
        list="playground-models"
        autocomplete="off"
        spellcheck={false}
        value={one.model.value}
        onInput={(event) => {
          one.model.value = event.currentTarget.value
        }}
      />
    </div>
  )
}

const Own = ({ one }: { readonly one: One }) =>
  one.own.value === null ? (
    <button
      type="button"
      class="button plain own-draft"
      onClick={() => {
        one.own.value = draft.value
      }}
    >
      {words.ownDraft}
    </button>
  ) : (
    <div class="group">
      <DraftFields
        endpoint={endpoint.value}
        draft={one.own.value}
        onChange={(changed) => {
          one.own.value = changed
        }}
      />
      <button
        type="button"
        class="button plain own-draft"
        onClick={() => {
          one.own.value = null
        }}
      >
        {words.sharedDraft}
      </button>
    </div>
  )

const Target = ({ run, model }: { readonly run: Run; readonly model: string }) => {
  const isAsked = useSignal(false)
  if (run.requestId === "" || run.state === "running" || run.state === "waiting") return null
  return (
    <p class="buttons">
      {run.target !== "" && <span>→ {visible(run.target)}</span>}
      <button
        type="button"
        class="button plain"
        onClick={() => {
          isAsked.value = true
        }}
      >
        {words.why}
      </button>
      <Why
        requestId={run.requestId}
        model={model}
        isOpen={isAsked.value}
        onClose={() => {
          isAsked.value = false
        }}
      />
    </p>
  )
}

export const Column = ({ one, place }: { readonly one: One; readonly place: number }) => {
  const run = one.run.value
  return (
    <section class="card column" aria-label={words.model(place)}>
      <Head one={one} place={place} />
      <Own one={one} />
      {one.problem.value !== null && (
        <p class="problem" role="alert">
          {one.problem.value}
        </p>
      )}
      <Facts run={run} />
      <Target run={run} model={one.model.value} />
      {run.state === "waiting" && (
        <State kind="quiet" icon="wait">
          {words.waiting}
        </State>
      )}
      {run.state === "stopped" && <State kind="warning">{words.stopped}</State>}
      {run.state === "cut" && (
        <p class="told-warning">
          <State kind="warning">{words.cut}</State>
        </p>
      )}
      <Answer run={run} draft={one.own.value ?? draft.value} />
      {run.error !== null && <Failure error={run.error} />}
    </section>
  )
}
