/** Sets the price of one model. What else its price has, such as that of long prompts, is edited as JSON. */
import { useSignal } from "@preact/signals"
import { useEffect, useId } from "preact/hooks"
import type { ApiError } from "../../../api/ApiError.ts"
import { pricingUpdate } from "../../../api/calls.generated.ts"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Merge } from "../../../ui/merge/Merge.tsx"
import { useSaving, type Version } from "../../../ui/merge/saving.ts"
import { visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as common } from "../../../words/common.ts"
import { words as keyWords } from "../../../words/keys.ts"
import { words } from "../../../words/keysMoney.ts"
import { loadOverride, type Override, type Price, type PricedModel, saveOverride, shownOverride } from "./setPrice.ts"

const names = ["input", "output", "cached", "cacheCreation", "reasoning"] as const
type Name = (typeof names)[number]
const needed: ReadonlySet<Name> = new Set(["input", "output"])

type Texts = Readonly<Record<Name, string>> & { readonly others: string }

const textsOf = (price: Price | null): Texts => {
  const { cached, cacheCreation, dated: _dated, input, output, reasoning, source: _source, ...others } = price ?? {}
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value))
  return {
    input: text(input),
    output: text(output),
    cached: text(cached),
    cacheCreation: text(cacheCreation),
    reasoning: text(reasoning),
    others: Object.keys(others).length === 0 ? "" : JSON.stringify(others, null, 2)
  }
}

const isPrice = (text: string): boolean => text.trim() !== "" && Number(text) >= 0

const objectOf = (text: string): Readonly<Record<string, unknown>> | null => {
  if (text.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

const readTexts = (texts: Texts): { readonly price: Price | null; readonly wrong: ReadonlySet<string> } => {
  const others = objectOf(texts.others)
  const wrong = new Set<string>(
    names.filter((name) => !isPrice(texts[name]) && (needed.has(name) || texts[name] !== ""))
  )
  if (others === null) wrong.add("others")
  if (wrong.size > 0) return { price: null, wrong }
  const given = names.filter((name) => texts[name] !== "").map((name) => [name, Number(texts[name])])
  return { price: { ...others, ...Object.fromEntries(given) } as Price, wrong }
}

interface FieldsProperties {
  readonly texts: Texts
  readonly wrong: ReadonlySet<string>
  readonly onText: (name: keyof Texts, text: string) => void
}

const Fields = ({ onText, texts, wrong }: FieldsProperties) => {
  const id = useId()
  return (
    <>
      <p class="quiet">{words.prices.perMillion}</p>
      <div class="parameters">
        {names.map((name) => (
          <div key={name} class="field">
            <label for={`${id}-${name}`}>{words.prices.fields[name]}</label>
            <input
              id={`${id}-${name}`}
              class="input"
              inputMode="decimal"
              autocomplete="off"
              aria-invalid={wrong.has(name)}
              value={texts[name]}
              onInput={({ currentTarget }) => onText(name, currentTarget.value)}
            />
            {wrong.has(name) && <p class="problem">{words.prices.needed}</p>}
          </div>
        ))}
      </div>
      <p class="hint quiet">{words.prices.hint}</p>
      <details open={texts.others !== ""}>
        <summary>{words.prices.more2}</summary>
        <div class="field">
          <label for={`${id}-others`}>{words.prices.json}</label>
          <textarea
            id={`${id}-others`}
            class="input mono"
            rows={6}
            spellcheck={false}
            aria-invalid={wrong.has("others")}
            value={texts.others}
            onInput={({ currentTarget }) => onText("others", currentTarget.value)}
          />
          <p class={wrong.has("others") ? "problem" : "hint"}>
            {wrong.has("others") ? words.prices.jsonWrong : words.prices.jsonHint}
          </p>
        </div>
      </details>
    </>
  )
}

interface Properties {
  readonly of: PricedModel
  /** Price that holds now, wherever it is from; the fields begin with it. */
  readonly present: Price | null
  readonly onClose: () => void
}

const takeBack = async (of: PricedModel, before: Override, saved: Version<Override>): Promise<void> => {
  try {
    await saveOverride(of, before, saved.tag ?? undefined, saved.value)
    toast("good", words.prices.takenBack(visible(of.model)))
  } catch (failure) {
    toast("bad", visible((failure as ApiError).message))
  }
}

const Form = ({ base, of, onClose, present }: Properties & { readonly base: Version<Override> }) => {
  const texts = useSignal(textsOf(base.value.price ?? present))
  const wrong = useSignal<ReadonlySet<string>>(new Set())
  const name = `${of.provider}/${of.model}`
  const saving = useSaving<Override>({
    send: (value, tag, before) => saveOverride(of, value, tag, before),
    shown: shownOverride(of),
    onSaved: (saved) => {
      const told = saved.value.price === null ? words.prices.removed : words.prices.saved
      toast("good", told(visible(name)), {
        label: keyWords.undo,
        run: () => void takeBack(of, base.value, saved)
      })
      onClose()
    }
  })
  const read = readTexts(texts.value)
  const submit = (event: Event): void => {
    event.preventDefault()
    wrong.value = read.wrong
    if (read.price !== null) void saving.save(base, { price: read.price })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Fields
        texts={texts.value}
        wrong={wrong.value}
        onText={(field, text) => {
          texts.value = { ...texts.value, [field]: text }
        }}
      />
      {saving.error.value !== null && <Failure error={saving.error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={saving.isBusy.value}>
          {common.save}
        </button>
        {base.value.price !== null && (
          <button
            type="button"
            class="button"
            disabled={saving.isBusy.value}
            onClick={() => void saving.save(base, { price: null })}
          >
            {words.prices.remove}
          </button>
        )}
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
      </div>
      <CopyAs call={pricingUpdate} body={{ [of.provider]: { [of.model]: read.price ?? {} } }} />
      <Merge name={name} saving={saving} />
    </form>
  )
}

export const PriceDialog = (properties: Properties) => {
  const { of, onClose } = properties
  const base = useSignal<Version<Override> | null>(null)
  const error = useSignal<ApiError | null>(null)
  useEffect(() => {
    void (async () => {
      try {
        base.value = await loadOverride(of)
      } catch (failure) {
        error.value = failure as ApiError
      }
    })()
  }, [of.provider, of.model])
  return (
    <Dialog title={words.prices.title(visible(`${of.provider}/${of.model}`))} isOpen onClose={onClose}>
      {error.value !== null && <Failure error={error.value} />}
      {base.value !== null && <Form {...properties} base={base.value} />}
    </Dialog>
  )
}
