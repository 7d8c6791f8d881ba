/** A form that is filled with what is stored. It sends what was changed, and offers to take it back. */
import { useSignal } from "@preact/signals"
import { useId, useMemo } from "preact/hooks"
import { ApiError } from "../api/ApiError.ts"
import { Failure } from "../ui/Failure.tsx"
import { visible } from "../ui/format.ts"
import { toast } from "../ui/toasts.tsx"
import { words as common } from "../words/common.ts"
import { words } from "../words/forms.ts"
import type { Texts } from "./body.ts"
import { changesOf, inverseOf, textsOf, type Values } from "./changes.ts"
import { Fields, type FormState } from "./Field.tsx"
import type { FieldSchema } from "./operations.ts"

interface Properties {
  readonly schema: FieldSchema
  readonly values: object
  /** Members that a change replaces as a whole. */
  readonly whole?: ReadonlySet<string>
  /** Stores it; called again with the former values to take it back. */
  readonly save: (body: Values) => Promise<unknown>
  /** False: what was saved is a new thing, which is removed elsewhere. */
  readonly canUndo?: boolean
  readonly onSaved?: () => void
  readonly onCancel?: () => void
  readonly verb?: string
}

const noWhole: ReadonlySet<string> = new Set()

const toldOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(String(error), { status: 0, code: "failed" })

const undo = async (save: Properties["save"], back: Values): Promise<void> => {
  try {
    await save(back)
    toast("good", words.takenBack)
  } catch (error) {
    toast("bad", visible(toldOf(error).message))
  }
}

export const ValuesForm = ({
  canUndo = true,
  onCancel,
  onSaved,
  save,
  schema,
  values,
  verb,
  whole = noWhole
}: Properties) => {
  const scope = useId()
  const stored = useMemo(() => textsOf(schema, values as Values), [schema, values])
  // What was typed stands over what is stored, also when that changes meanwhile.
  const typed = useSignal<Texts>({})
  const cleared = useSignal<ReadonlySet<string>>(new Set())
  const problems = useSignal<Readonly<Record<string, string>>>({})
  const error = useSignal<ApiError | null>(null)
  const isBusy = useSignal(false)
  const texts = { ...stored, ...typed.value }
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
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isBusy.value) return
    const { body, wrong } = changesOf(schema, stored, { texts, cleared: cleared.value }, whole)
    problems.value = Object.fromEntries(Object.entries(wrong).map(([path, kind]) => [path, words.wrong[kind]]))
    error.value = null
    if (Object.keys(wrong).length > 0) return
    if (Object.keys(body).length === 0) {
      toast("quiet", words.nothingChanged)
      return
    }
    const back = canUndo ? inverseOf(schema, values as Values, body) : null
    isBusy.value = true
    try {
      await save(body)
      typed.value = {}
      cleared.value = new Set()
      toast("good", words.saved, back === null ? undefined : { label: words.undo, run: () => void undo(save, back) })
      onSaved?.()
    } catch (failure) {
      error.value = toldOf(failure)
      problems.value = Object.fromEntries(error.value.details.map(({ field, message }) => [field, visible(message)]))
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form class="stack values-form" noValidate onSubmit={(event) => void submit(event)}>
      <Fields schema={schema} path="" form={form} />
      {error.value !== null && <Failure error={error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {isBusy.value ? words.sending : (verb ?? common.save)}
        </button>
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            {common.cancel}
          </button>
        )}
      </div>
    </form>
  )
}
