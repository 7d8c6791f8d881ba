/** Sets where prices are fetched from once a day, and whether they are. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { flagsList, flagsSet, gatewaySettingsGet, gatewaySettingsUpdate } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { Prose } from "../../../ui/Prose.tsx"
import { words as common } from "../../../words/common.ts"
import { words as shared } from "../../../words/parts.ts"
import { words } from "../../../words/system/sync.ts"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"

type Settings = AnswerOf<typeof gatewaySettingsGet>

const flag = "PRICING_SYNC_ENABLED"

const Address = ({ settings: { pricingUrl } }: { readonly settings: Settings }) => {
  const url = useSignal(pricingUrl ?? "")
  const { isBusy, problem, run } = useWork(["settings"], true)
  const submit = (event: Event): void => {
    event.preventDefault()
    const next = url.value.trim()
    void run(() => gatewaySettingsUpdate({ body: { pricingUrl: next === "" ? null : next } }), words.saved)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Entry
        name={words.pricingUrl}
        value={url}
        hint={words.pricingUrlHint}
        placeholder="https://prices.example.com/models.json"
      />
      {problem.value !== null && <Failure error={problem.value} />}
      <div class="buttons">
        <button type="submit" class="button" disabled={isBusy.value}>
          {common.save}
        </button>
      </div>
    </form>
  )
}

const Switch = () => {
  const flags = useAnswer({ key: ["flags"], ask: (signal) => flagsList({ signal }) })
  const work = useWork(["flags"])
  const { isBusy } = work
  const set = (isOn: boolean) => flagsSet({ body: { key: flag, value: String(isOn) } })
  const change = (wasOn: boolean): Promise<void> =>
    switchWith(work, wasOn, set, { on: words.pricesOn, off: words.pricesOff })
  return (
    <Answered of={flags} height={32}>
      {(answer) => {
        const isOn = answer.flags.find(({ key }) => key === flag)?.effectiveValue === "true"
        return (
          <div class="buttons">
            <State kind={isOn ? "good" : "quiet"}>{isOn ? shared.on : shared.off}</State>
            <button type="button" class="button" disabled={isBusy.value} onClick={() => void change(isOn)}>
              {isOn ? words.switchOff : words.switchPricesOn}
            </button>
            <a class="button plain" href={placeOf("keys")}>
              {words.prices}
            </a>
          </div>
        )
      }}
    </Answered>
  )
}

export const PriceSync = () => {
  const settings = useAnswer({ key: ["settings"], ask: (signal) => gatewaySettingsGet({ signal }) })
  return (
    <section class="card stack" aria-label={words.priceTitle}>
      <h3>{words.priceTitle}</h3>
      <p class="quiet">
        <Prose text={words.priceHint} />
      </p>
      <Switch />
      <Answered of={settings} height={120}>
        {(answer) => <Address key={answer.pricingUrl} settings={answer} />}
      </Answered>
    </section>
  )
}
