/**
 * A form for one operation of the API: its parameters, its body, and its answer. What is removed is asked for once more. What is stored is changed over
 * the version that the form has read: where that is another one by now, both are shown field by field.
 */
import { useSignal } from "@preact/signals"
import { useMemo, useRef } from "preact/hooks"
import { ApiError } from "../api/ApiError.ts"
import { queries } from "../api/queries.ts"
import { CopyAs } from "../ui/copy/CopyAs.tsx"
import { Dialog } from "../ui/dialogs/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Merge } from "../ui/merge/Merge.tsx"
import { isSame } from "../ui/merge/merge.ts"
import { sendOver } from "../ui/merge/resend.ts"
import { useSaving, type Version } from "../ui/merge/saving.ts"
import { State } from "../ui/State.tsx"
import { visible } from "../ui/format.ts"
import { words as common } from "../words/common.ts"
import { words } from "../words/forms.ts"
import { bodyOf, type Texts } from "./body.ts"
import { Field, Fields, type FormState } from "./Field.tsx"
import { kindOf } from "./fields.ts"
import type { Operation } from "./operations.ts"
import { objectIn, shapedLike, usePresent } from "./present.ts"
import { addressOf, type Answered, missing, pretty, send } from "./send.ts"

/** Longer answers are shown by their beginning. */
const shownCharacters = 200_000

const parameterPath = (name: string): string => `?${name}`

const typedOf = ({ parameters }: Operation, texts: Texts): Readonly<Record<string, string>> =>
  Object.fromEntries(parameters.map(({ name }) => [name, texts[parameterPath(name)] ?? ""]))

/** Parameters that stand in the page's address, as links of other views put them there. */
const parametersOfAddress = ({ parameters }: Operation): Texts => {
  const query = new URLSearchParams(location.search)
  return Object.fromEntries(
    parameters.flatMap(({ name }) => {
      const value = query.get(name)
      return value === null ? [] : [[parameterPath(name), value]]
    })
  )
}

const noProblems: FormState["problems"] = {}

/** The state of a form: what was typed, and what is wrong with it. */
const useForm = (operation: Operation) => {
  const texts = useSignal<Texts>(parametersOfAddress(operation))
  const cleared = useSignal<ReadonlySet<string>>(new Set())
  const problems = useSignal<Readonly<Record<string, string>>>({})
  const form: FormState = {
    texts: texts.value,
    cleared: cleared.value,
    problems: noProblems,
    setText: (path, text) => {
      texts.value = { ...texts.value, [path]: text }
    },
    setCleared: (path, isCleared) => {
      const next = new Set(cleared.value)
      if (isCleared) next.add(path)
      else next.delete(path)
      cleared.value = next
    }
  }
  return { form, problems }
}

const Parameters = ({ form, operation }: { form: FormState; operation: Operation }) =>
  operation.parameters.length === 0 ? null : (
    <fieldset class="group">
      <legend>{words.parameters}</legend>
      {operation.parameters.map(({ description, isRequired, name, schema }) => (
        <Field
          key={name}
          name={name}
          path={parameterPath(name)}
          schema={{ ...schema, description }}
          isRequired={isRequired}
          form={form}
        />
      ))}
    </fieldset>
  )

/** A body that is no object of fields is written as JSON. */
const wholeBody = "body"

const Body = ({ form, operation: { body } }: { form: FormState; operation: Operation }) => {
  if (body === null) return null
  const kind = kindOf(body)
  return (
    <fieldset class="group">
      <legend>{words.body}</legend>
      {kind._tag === "Group" ? (
        <Fields schema={kind.schema} path="" form={form} />
      ) : (
        <Field name={words.body} path={wholeBody} schema={body} isRequired={false} form={form} />
      )}
    </fieldset>
  )
}

const Answer = ({ answered: { status, text } }: { readonly answered: Answered }) => (
  <section aria-live="polite" class="stack">
    <State kind="good">{words.answer(status)}</State>
    {text === null ? (
      <p>{words.done}</p>
    ) : (
      <pre class="answer" tabIndex={0}>
        <code>{visible(pretty(text).slice(0, shownCharacters))}</code>
      </pre>
    )}
  </section>
)

interface Readied {
  readonly url: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly wrong: Readonly<Record<string, string>>
}

const ready = (operation: Operation, { cleared, texts }: FormState): Readied => {
  const typed = typedOf(operation, texts)
  const wrong: Record<string, string> = {}
  for (const name of missing(operation.parameters, typed)) wrong[parameterPath(name)] = words.required
  let body: unknown = null
  if (operation.body !== null) {
    const isFields = kindOf(operation.body)._tag === "Group"
    const schema = isFields ? operation.body : { properties: { [wholeBody]: operation.body } }
    const read = bodyOf(schema, texts, cleared)
    for (const [path, problem] of Object.entries(read.wrong)) wrong[path] = words.wrong[problem]
    const whole = isFields ? read.value : (read.value[wholeBody] ?? null)
    body = whole === null || operation.isBodyRequired || Object.keys(whole).length > 0 ? whole : null
  }
  const inQuery = operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name)
  const query = Object.fromEntries(inQuery.map((name) => [name, typed[name] ?? ""]))
  return { url: addressOf(operation, typed), parameters: typed, query, body, wrong }
}

const Present = ({ again, version }: { readonly version: Version<unknown>; readonly again: () => void }) => (
  <details class="present">
    <summary>{words.stored}</summary>
    <pre class="answer" tabIndex={0}>
      <code>{visible(JSON.stringify(version.value, null, 2).slice(0, shownCharacters))}</code>
    </pre>
    <button type="button" class="button" onClick={again}>
      {words.readAgain}
    </button>
  </details>
)

interface ReallyProperties {
  readonly operation: Operation
  readonly url: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly run: () => void
}

const Really = ({ isOpen, onClose, operation, run, url }: ReallyProperties) => (
  <Dialog title={words.really(operation.summary)} isOpen={isOpen} onClose={onClose}>
    <p>{words.changes}</p>
    <pre>{url}</pre>
    <div class="buttons">
      <button type="button" class="button danger" onClick={run}>
        {operation.summary}
      </button>
      <button type="button" class="button" onClick={onClose}>
        {common.cancel}
      </button>
    </div>
  </Dialog>
)

type Fields = Readonly<Record<string, unknown>>

/** Fields of a body by their names; a body that is none has one field. */
const fieldsOf = (body: unknown): Fields =>
  typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Fields) : { [wholeBody]: body }

/** Sends the form over the version that it has read, and merges where another one is there. */
const useSending = (operation: Operation, readied: Readied) => {
  const present = usePresent(operation, readied.parameters)
  const answered = useSignal<Answered | null>(null)
  /** The body that was sent: of what is stored, its fields are compared. */
  const sent = useRef<unknown>(null)
  const storedOf = (value: unknown): Fields => fieldsOf(shapedLike(objectIn(value, sent.current), sent.current))
  const saving = useSaving<Fields>({
    send: async (fields, tag, base) => {
      const { body } = readied
      const isWhole = fieldsOf(body) !== body
      const answer = await sendOver(
        tag,
        (ifMatch) => send(operation.method, readied.url, isWhole ? body : fields, { ifMatch }),
        // A part is laid over what is there; the whole replaces it.
        (current) => operation.method === "PATCH" && isSame(storedOf(current), base)
      )
      answered.value = answer
      present.put(null)
      return { value: fields, tag: answer.tag }
    },
    shown: storedOf,
    onSaved: () => {
      present.again()
      if (operation.method !== "GET") void queries.invalidateQueries()
    }
  })
  const run = async (): Promise<void> => {
    answered.value = null
    const version = await present.known()
    sent.current = readied.body
    const base = version === null ? {} : storedOf(version.value)
    await saving.save({ value: base, tag: version?.tag ?? null }, fieldsOf(readied.body))
    if (saving.conflict.value === null || readied.body !== null) return
    // Without a body nothing can be merged: what is there now is shown, and the next try is over that version.
    saving.conflict.value = null
    saving.error.value = new ApiError(words.changedMeanwhile, { status: 412, code: "precondition_failed" })
    present.again()
  }
  return { answered, present, run, saving }
}

export const OperationForm = ({ operation }: { readonly operation: Operation }) => {
  const { form, problems } = useForm(operation)
  const isAsked = useSignal(false)
  const readied = useMemo(() => ready(operation, form), [operation, form.texts, form.cleared])
  const { answered, present, run, saving } = useSending(operation, readied)
  const error = saving.error.value
  const refused = Object.fromEntries((error?.details ?? []).map(({ field, message }) => [field, message]))
  const isBusy = saving.isBusy.value

  const submit = (event: Event): void => {
    event.preventDefault()
    problems.value = readied.wrong
    if (Object.keys(readied.wrong).length > 0 || isBusy) return
    if (operation.method === "DELETE") isAsked.value = true
    else void run()
  }
  const shown: FormState = { ...form, problems: { ...refused, ...problems.value } }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Parameters form={shown} operation={operation} />
      <Body form={shown} operation={operation} />
      {present.version !== null && <Present version={present.version} again={present.again} />}
      <div class="buttons">
        <button
          type="submit"
          class={operation.method === "DELETE" ? "button danger" : "button main-action"}
          disabled={isBusy}
        >
          {isBusy ? words.sending : operation.method === "GET" ? words.send : operation.summary}
        </button>
      </div>
      <CopyAs
        isOpen
        call={{ method: operation.method, path: operation.path.replaceAll(/\{(\w+)\}/g, ":$1") }}
        path={readied.parameters}
        query={readied.query}
        body={readied.body}
      />
      {error !== null && <Failure error={error} />}
      {answered.value !== null && <Answer answered={answered.value} />}
      <Really
        operation={operation}
        url={readied.url}
        isOpen={isAsked.value}
        onClose={() => {
          isAsked.value = false
        }}
        run={() => {
          isAsked.value = false
          void run()
        }}
      />
      <Merge name={operation.summary} saving={saving} />
    </form>
  )
}
