/** One column: its model, and its answer with times and tokens. */
import type { ReadonlySignal } from "@preact/signals"
import { Failure } from "../../ui/Failure.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { count, duration, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/places.ts"
import { words } from "../../words/playground.ts"
import { type Run, tokensPerSecond } from "./run.ts"

interface Properties {
  readonly place: number
  readonly model: string
  readonly run: ReadonlySignal<Run>
  readonly onModel: (model: string) => void
  /** Null: it is the only one. */
  readonly onRemove: (() => void) | null
}

const Facts = ({ run }: { readonly run: Run }) => {
  const speed = tokensPerSecond(run)
  return (
    <p class="quiet" title={words.estimate}>
      {run.firstMs !== null && `${duration(run.firstMs)} ${words.first}`}
      {speed !== null && ` · ~${count(speed)} ${words.perSecond}`}
      {run.tokensIn !== null && ` · ${words.tokens(count(run.tokensIn), count(run.tokensOut ?? 0))}`}{" "}
      {run.requestId !== "" && run.state !== "running" && (
        <a href={placeOf(`requests/${run.requestId}`)}>{words.why}</a>
      )}
    </p>
  )
}

export const Column = ({ model, onModel, onRemove, place, run }: Properties) => {
  const now = run.value
  return (
    <section class="card column" aria-label={words.model(place)}>
      <div class="field">
        <span class="field-head">
          <label for={`model-${place}`}>{words.model(place)}</label>
          {onRemove !== null && (
            <button
              type="button"
              class="button plain"
              aria-label={words.removeColumn}
              title={words.removeColumn}
              onClick={onRemove}
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
          value={model}
          onInput={(event) => onModel(event.currentTarget.value)}
        />
      </div>
      <Facts run={now} />
      {now.state === "waiting" && (
        <State kind="quiet" icon="wait">
          {words.waiting}
        </State>
      )}
      {now.state === "stopped" && <State kind="warning">{words.stopped}</State>}
      <p class="told" aria-live={now.state === "ended" ? "polite" : "off"}>
        {visible(now.text)}
      </p>
      {now.error !== null && <Failure error={now.error} />}
    </section>
  )
}
