/** A form for one operation of the API: its parameters, its body, and its answer. What is removed is asked for once more. */
import { useSignal } from "@preact/signals"
import { useMemo, useRef } from "preact/hooks"
import type { ApiError } from "../api/ApiError.ts"
import { queries } from "../api/queries.ts"
import { CopyAs } from "../ui/copy/CopyAs.tsx"
import { Failure } from "../ui/Failure.tsx"
import { State } from "../ui/State.tsx"
import { visible } from "../ui/format.ts"
import { words as common } from "../words/common.ts"
import { words } from "../words/forms.ts"
import { bodyOf, type Texts } from "./body.ts"
import { Field, Fields, type FormState } from "./Field.tsx"
import { kindOf } from "./fields.ts"
import type { Operation } from "./operations.ts"
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

/** The state of a form: what was typed, and what is wrong with it. */
const useForm = (operation: Operation) => {
  const texts = useSignal<Texts>(parametersOfAddress(operation))
  const cleared = useSignal<ReadonlySet<string>>(new Set())
  const problems = useSignal<Readonly<Record<string, string>>>({})
  const form: FormState = {
    texts: texts.value,
    cleared: cleared.value,
    problems: problems.value,
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

export const OperationForm = ({ operation }: { readonly operation: Operation }) => {
  const { form, problems } = useForm(operation)
  const isBusy = useSignal(false)
  const error = useSignal<ApiError | null>(null)
  const answered = useSignal<Answered | null>(null)
  const dialog = useRef<HTMLDialogElement>(null)
  const readied = useMemo(() => ready(operation, form), [operation, form.texts, form.cleared])

  const run = async (): Promise<void> => {
    isBusy.value = true
    error.value = null
    answered.value = null
    problems.value = {}
    try {
      answered.value = await send(operation.method, readied.url, readied.body)
      if (operation.method !== "GET") void queries.invalidateQueries()
    } catch (failure) {
      const told = failure as ApiError
      error.value = told
      problems.value = Object.fromEntries(told.details.map(({ field, message }) => [field, message]))
    } finally {
      isBusy.value = false
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    problems.value = readied.wrong
    if (Object.keys(readied.wrong).length > 0) return
    if (operation.method === "DELETE") dialog.current?.showModal()
    else void run()
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Parameters form={form} operation={operation} />
      <Body form={form} operation={operation} />
      <div class="buttons">
        <button
          type="submit"
          class={operation.method === "DELETE" ? "button danger" : "button main-action"}
          disabled={isBusy.value}
        >
          {isBusy.value ? words.sending : operation.method === "GET" ? words.send : operation.summary}
        </button>
      </div>
      <CopyAs
        isOpen
        call={{ method: operation.method, path: operation.path.replaceAll(/\{(\w+)\}/g, ":$1") }}
        path={readied.parameters}
        query={readied.query}
        body={readied.body}
      />
      {error.value !== null && <Failure error={error.value} />}
      {answered.value !== null && <Answer answered={answered.value} />}
      <dialog class="sheet stack" ref={dialog} aria-labelledby="really">
        <h2 id="really">{words.really(operation.summary)}</h2>
        <p>{words.changes}</p>
        <pre>{readied.url}</pre>
        <div class="buttons">
          <button
            type="button"
            class="button danger"
            onClick={() => {
              dialog.current?.close()
              void run()
            }}
          >
            {operation.summary}
          </button>
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {common.cancel}
          </button>
        </div>
      </dialog>
    </form>
  )
}
