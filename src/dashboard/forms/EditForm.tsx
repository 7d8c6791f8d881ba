/** A form over an object that is stored: its fields as they are, and saved over the version that was edited. Two edits of one version are merged. */
import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { Failure } from "../ui/Failure.tsx"
import { Merge } from "../ui/merge/Merge.tsx"
import { isSame } from "../ui/merge/merge.ts"
import { useSaving, type Version } from "../ui/merge/saving.ts"
import { toast } from "../ui/toasts.tsx"
import { words as common } from "../words/common.ts"
import { words } from "../words/forms.ts"
import { words as merging } from "../words/merge.ts"
import type { Texts } from "./body.ts"
import { editedOf, emptied, textsOf } from "./edited.ts"
import { Fields, type FormState } from "./Field.tsx"
import type { FieldSchema } from "./operations.ts"

interface Properties<A> {
  /** Name of the object, for people. */
  readonly name: string
  readonly schema: FieldSchema
  /** The version that is edited. */
  readonly version: Version<A>
  /** Sends an edit over that version. */
  readonly send: (value: A, tag: string | undefined, base: A) => Promise<Version<A>>
  /** Reads the object in an answer that refused an edit. */
  readonly shown: (current: unknown) => A
  /** Groups that cannot be edited here: why, by their path. */
  readonly locked?: Readonly<Record<string, string>>
}

const nothing: Texts = {}
const noneCleared: ReadonlySet<string> = new Set()

export const EditForm = <A extends object>({ locked, name, schema, send, shown, version }: Properties<A>) => {
  const typed = useSignal<Texts>(nothing)
  const problems = useSignal<Readonly<Record<string, string>>>({})
  /** The version that the edit began from: what comes later is merged with, not edited. */
  const base = useSignal<Version<A>>(version)
  const isEdited = Object.keys(typed.value).length > 0
  useEffect(() => {
    if (!isEdited) base.value = version
  }, [version.tag, isEdited])
  const saving = useSaving<A>({
    send,
    shown,
    onSaved: (saved) => {
      base.value = saved
      typed.value = nothing
      toast("good", merging.saved(name))
    }
  })
  const edited = useMemo(
    () => editedOf(schema, base.value.value, typed.value, "empty"),
    [schema, base.value, typed.value]
  )
  const texts = useMemo(() => textsOf(schema, base.value.value), [schema, base.value])
  const refusal = saving.error.value
  const refused = Object.fromEntries((refusal?.details ?? []).map(({ field, message }) => [field, message]))
  const form: FormState = {
    texts: { ...texts, ...typed.value },
    cleared: noneCleared,
    problems: { ...refused, ...problems.value },
    setText: (path, text) => {
      typed.value = { ...typed.value, [path]: text }
    },
    setCleared: (path) => {
      typed.value = emptied(typed.value, texts, path)
    },
    ...(locked === undefined ? {} : { locked })
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    problems.value = Object.fromEntries(Object.entries(edited.wrong).map(([path, why]) => [path, words.wrong[why]]))
    if (Object.keys(edited.wrong).length === 0) void saving.save(base.value, edited.value as A)
  }
  const isChanged = Object.keys(edited.wrong).length > 0 || !isSame(edited.value, base.value.value)
  return (
    <form class="stack" noValidate onSubmit={submit} aria-label={name}>
      <Fields schema={schema} path="" form={form} />
      {refusal !== null && <Failure error={refusal} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={!isChanged || saving.isBusy.value}>
          {common.save}
        </button>
        {isEdited && (
          <button
            type="button"
            class="button"
            onClick={() => {
              typed.value = nothing
              problems.value = {}
            }}
          >
            {words.discard}
          </button>
        )}
      </div>
      <Merge name={name} saving={saving} />
    </form>
  )
}
