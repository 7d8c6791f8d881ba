/**
 * A form that is filled with what is stored. It sends what was changed over the version that was edited, merges it with what another has changed
 * meanwhile, and offers to take it back.
 */
import { useSignal } from "@preact/signals"
import { useId, useMemo, useRef } from "preact/hooks"
import { ApiError } from "../api/ApiError.ts"
import { type Anything, tagOf } from "../api/client.ts"
import { Failure } from "../ui/Failure.tsx"
import { visible } from "../ui/format.ts"
import { Merge } from "../ui/merge/Merge.tsx"
import { isSame } from "../ui/merge/merge.ts"
import { sendOver } from "../ui/merge/resend.ts"
import { useSaving } from "../ui/merge/saving.ts"
import { toast } from "../ui/toasts.tsx"
import { words as common } from "../words/common.ts"
import { words } from "../words/forms.ts"
import type { Texts } from "./body.ts"
import { changesOf, inverseOf, textsOf, type Values } from "./changes.ts"
import { Fields, type FormState } from "./Field.tsx"
import type { FieldSchema } from "./operations.ts"
import { shapedLike } from "./present.ts"

/** The call that answered what a form shows, and where it is in the answer. */
export interface Stored {
  readonly call: { readonly path: string }
  readonly asked?: Anything
  readonly of: (answer: unknown) => object
}

interface Properties {
  readonly schema: FieldSchema
  readonly values: object
  /** Members that a change replaces as a whole. */
  readonly whole?: ReadonlySet<string>
  /**
   * Stores it over a version: `over` are the values of that version, for who sends all of them. Called again with the former values to take it
   * back.
   */
  readonly save: (body: Values, ifMatch: string | undefined, over: object) => Promise<unknown>
  /** Absent: what is saved is a new thing. */
  readonly stored?: Stored
  /** False: what was saved is a new thing, which is removed elsewhere. */
  readonly canUndo?: boolean
  readonly onSaved?: () => void
  readonly onCancel?: () => void
  readonly verb?: string
}

const noWhole: ReadonlySet<string> = new Set()

const toldOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(String(error), { status: 0, code: "failed" })

const undo = async (save: Properties["save"], back: Values, over: object): Promise<void> => {
  try {
    await save(back, undefined, over)
    toast("good", words.takenBack)
  } catch (error) {
    toast("bad", visible(toldOf(error).message))
  }
}

/** Holds what was typed, and what is wrong with it. */
const useTyped = (schema: FieldSchema, values: object) => {
  const scope = useId()
  const shown = useMemo(() => textsOf(schema, values as Values), [schema, values])
  // What was typed stands over what is stored, also when that changes meanwhile.
  const typed = useSignal<Texts>({})
  const cleared = useSignal<ReadonlySet<string>>(new Set())
  const problems = useSignal<Readonly<Record<string, string>>>({})
  const texts = { ...shown, ...typed.value }
  const form: FormState = {
    scope,
    isFilled: true,
    texts,
    cleared: cleared.value,
    problems: problems.value,
    setText: (path, text) => {
      typed.value = { ...typed.value, [path]: text }
    },
    setCleared: (path, isCleared) => {
      const next = new Set(cleared.value)
      if (isCleared) next.add(path)
      else next.delete(path)
      cleared.value = next
    }
  }
  const isEdited = Object.keys(typed.value).length > 0 || cleared.value.size > 0
  const forget = (): void => {
    typed.value = {}
    cleared.value = new Set()
  }
  return { form, shown, texts, problems, isEdited, forget }
}

/** The version that an edit began from. */
const useBase = ({ stored, values }: Pick<Properties, "stored" | "values">, isEdited: boolean) => {
  const tag = stored === undefined ? undefined : tagOf(stored.call, stored.asked)
  const base = useRef({ values, tag })
  if (!isEdited) base.current = { values, tag }
  return base
}

export const ValuesForm = (properties: Properties) => {
  const { canUndo = true, onCancel, onSaved, save, schema, stored, values, verb, whole = noWhole } = properties
  const { forget, form, isEdited, problems, shown, texts } = useTyped(schema, values)
  const base = useBase(properties, isEdited)
  const error = useSignal<ApiError | null>(null)
  /** The values that are saved over, and the body that is sent: of what is stored, its fields are compared. */
  const at = useRef<{ readonly over: object; readonly body: Values }>({ over: values, body: {} })
  const storedOf = (current: unknown): Values => {
    at.current = { ...at.current, over: stored?.of(current) ?? {} }
    return shapedLike(at.current.over, at.current.body) as Values
  }
  const saving = useSaving<Values>({
    send: async (body, tag, before) => {
      await sendOver(
        tag,
        (ifMatch) => save(body, ifMatch, at.current.over),
        (current) => isSame(storedOf(current), before)
      )
      return { value: body, tag: null }
    },
    shown: storedOf,
    onSaved: ({ value: body }) => {
      const { over } = at.current
      const back = canUndo ? inverseOf(schema, over as Values, body) : null
      forget()
      toast(
        "good",
        words.saved,
        back === null ? undefined : { label: words.undo, run: () => void undo(save, back, { ...over, ...body }) }
      )
      onSaved?.()
    }
  })
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (saving.isBusy.value) return
    const { body, wrong } = changesOf(schema, shown, { texts, cleared: form.cleared }, whole)
    problems.value = Object.fromEntries(Object.entries(wrong).map(([path, kind]) => [path, words.wrong[kind]]))
    error.value = null
    if (Object.keys(wrong).length > 0) return
    if (Object.keys(body).length === 0) {
      toast("quiet", words.nothingChanged)
      return
    }
    const { tag, values: before } = base.current
    at.current = { over: before, body }
    await saving.save({ value: shapedLike(before, body) as Values, tag: tag ?? null }, body)
    if (saving.error.value === null) return
    error.value = toldOf(saving.error.value)
    problems.value = Object.fromEntries(error.value.details.map(({ field, message }) => [field, visible(message)]))
  }
  const isBusy = saving.isBusy.value
  return (
    <form class="stack values-form" noValidate onSubmit={(event) => void submit(event)}>
      <Fields schema={schema} path="" form={form} />
      {error.value !== null && <Failure error={error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy}>
          {isBusy ? words.sending : (verb ?? common.save)}
        </button>
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            {common.cancel}
          </button>
        )}
      </div>
      <Merge name={schema.title ?? words.thisForm} saving={saving} />
    </form>
  )
}
