/** Sets the price of a model, with a way back to what was in force. */
import { useSignal } from "@preact/signals"
import { pricingUpdate } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { visible } from "../../../ui/format.ts"
import { useWork } from "../../../ui/useWork.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/providerModels.ts"
import { words as providers } from "../../../words/providers.ts"
import { doing } from "../actions.ts"
import type { Model } from "./model.ts"

type Prices = NonNullable<Parameters<typeof pricingUpdate>[0]>["body"]
type OwnPrice = NonNullable<NonNullable<Prices>[string]>[string]

const renew = (): void => {
  for (const key of ["models", "attention", "prices"]) void refresh(key)
}

/** A number that is no less than 0; null: it is none. */
const usdOf = (text: string): number | null => {
  const value = Number(text)
  return text.trim() === "" || !Number.isFinite(value) || value < 0 ? null : value
}

const Form = ({ model, onClose }: { readonly model: Model; readonly onClose: () => void }) => {
  const { price, priceSource } = model
  const input = useSignal(price === null ? "" : String(price.input))
  const output = useSignal(price === null ? "" : String(price.output))
  const cached = useSignal(price?.cached === undefined || price.cached === null ? "" : String(price.cached))
  const { isBusy, problem: error, run } = useWork(["models", "attention", "prices"], true)
  const isWrong = useSignal(false)
  const put = (next: OwnPrice) => pricingUpdate({ body: { [model.provider ?? ""]: { [model.model ?? ""]: next } } })
  const given = (): OwnPrice | undefined => {
    const [paid, told, kept] = [usdOf(input.value), usdOf(output.value), usdOf(cached.value)]
    if (paid === null || told === null || (cached.value.trim() !== "" && kept === null)) return undefined
    const { cached: _former, ...others } = price ?? {}
    return { ...others, input: paid, output: told, ...(kept === null ? {} : { cached: kept }) } as OwnPrice
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const next = given()
    isWrong.value = next === undefined
    if (next === undefined) return
    const isSet = await run(async () => {
      await put(next)
      const before = (priceSource === "override" ? price : null) as OwnPrice
      toast("good", words.models.isSet(visible(model.id)), {
        label: providers.undo,
        run: () =>
          void doing(async () => {
            await put(before)
            renew()
            toast("good", providers.takenBack)
          })
      })
    })
    if (isSet) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <Entry name={words.models.input} type="number" value={input} isRequired />
      <Entry name={words.models.output} type="number" value={output} isRequired />
      <Entry name={words.models.cached} type="number" hint={words.models.cachedHint} value={cached} />
      {price !== null && <p class="quiet">{words.models.keeps}</p>}
      {isWrong.value && (
        <p class="problem" role="alert">
          {words.models.notNumber}
        </p>
      )}
      {error.value !== null && <Failure error={error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {common.save}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
      </div>
      <CopyAs call={pricingUpdate} body={{ [model.provider ?? ""]: { [model.model ?? ""]: given() ?? null } }} />
    </form>
  )
}

export const SetPrice = ({ model }: { readonly model: Model }) => {
  const isOpen = useSignal(false)
  const close = (): void => {
    isOpen.value = false
  }
  const name = visible(model.id)
  return (
    <>
      <button
        type="button"
        class="button plain"
        aria-label={`${model.price === null ? words.models.set : words.models.change}: ${name}`}
        onClick={() => {
          isOpen.value = true
        }}
      >
        {model.price === null ? words.models.set : words.models.change}
      </button>
      <Dialog title={words.models.setTitle(name)} isOpen={isOpen.value} onClose={close}>
        <Form model={model} onClose={close} />
      </Dialog>
    </>
  )
}
