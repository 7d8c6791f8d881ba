/** A request before and after the compression, with what was saved by which engine. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { ApiError } from "../../../api/ApiError.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { compressionPreview } from "../../../api/calls.generated.ts"
import type { FieldSchema } from "../../../forms/operations.ts"
import { typing } from "../../../ui/handlers.ts"
import { Editor } from "../../../ui/editor/Editor.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { count, duration, percent, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/compression.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"

type Previewed = AnswerOf<typeof compressionPreview>

const bodyOf = (text: string): Readonly<Record<string, unknown>> => {
  const value: unknown = (() => {
    try {
      return JSON.parse(text)
    } catch {
      return null
    }
  })()
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ApiError(words.wrongJson, { status: 0, code: "no_json" })
  }
  return value as Readonly<Record<string, unknown>>
}

/** JSON with the line ends of its texts as line ends: what is compared are words. */
const readable = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll("\\n", "\n")

const Side = ({ body, title, tokens }: { readonly title: string; readonly tokens: number; readonly body: unknown }) => (
  <section class="stack" aria-label={title}>
    <h4>
      {title} <span class="quiet">{words.tokens(count(tokens))}</span>
    </h4>
    <pre class="answer" tabIndex={0}>
      {visible(readable(body))}
    </pre>
  </section>
)

const Result = ({ answer, before }: { readonly answer: Previewed; readonly before: unknown }) => (
  <div class="stack" aria-live="polite">
    {answer.savedPercent > 0 ? (
      <State kind="good">{words.savedPercent(percent(answer.savedPercent / 100))}</State>
    ) : (
      <State kind="quiet">{words.unchanged}</State>
    )}
    <div class="sides">
      <Side title={words.before} tokens={answer.tokensBefore} body={before} />
      <Side title={words.after} tokens={answer.tokensAfter} body={answer.body} />
    </div>
    {answer.perEngine.length > 0 && (
      <Table label={words.perEngine[0]} columns={words.perEngine} numbers={[1, 2, 3]}>
        {answer.perEngine.map(({ elapsedMs, engine, tokensAfter, tokensBefore }) => (
          <tr key={engine}>
            <td>{visible(engine)}</td>
            <td class="number">{count(tokensBefore)}</td>
            <td class="number">{count(tokensAfter)}</td>
            <td class="number">{duration(elapsedMs)}</td>
          </tr>
        ))}
      </Table>
    )}
    {answer.kept.length > 0 && (
      <p>
        <span class="quiet">{words.kept}:</span>{" "}
        {answer.kept.map((part) => (
          <code key={part} class="chip">
            {visible(part)}
          </code>
        ))}
      </p>
    )}
  </div>
)

/** Engines that may be chosen, as the API lists them. */
const enginesOf = (settings: FieldSchema): ReadonlyArray<string> =>
  (settings.properties?.["engine"]?.enum ?? []).filter((one): one is string => typeof one === "string")

export const Preview = ({ settings }: { readonly settings: FieldSchema }) => {
  const id = useId()
  const text = useSignal(JSON.stringify(words.example, null, 2))
  const engine = useSignal("")
  const shown = useSignal<{ readonly before: unknown; readonly answer: Previewed } | null>(null)
  const { isBusy, problem, run } = useWork([], true)
  const submit = (event: Event): void => {
    event.preventDefault()
    void run(async () => {
      const before = bodyOf(text.value)
      const chosen = engine.value === "" ? {} : { engine: engine.value }
      shown.value = { before, answer: await compressionPreview({ body: { body: before, ...chosen } as never }) }
    })
  }
  return (
    <section class="card stack" aria-label={words.try}>
      <h3>{words.try}</h3>
      <form class="stack" onSubmit={submit}>
        <div class="field">
          <label for={`${id}-request`}>{words.tryHint}</label>
          <Editor
            id={`${id}-request`}
            language="json"
            isOpen
            text={text.value}
            onText={(next) => {
              text.value = next
            }}
          />
        </div>
        <div class="field key-choice">
          <label for={`${id}-engine`}>{words.engine}</label>
          <select id={`${id}-engine`} class="input" value={engine.value} onChange={typing(engine)}>
            <option value="">{words.asSettings}</option>
            {enginesOf(settings).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </div>
        <div class="buttons">
          <button type="submit" class="button main-action" disabled={isBusy.value}>
            {words.run}
          </button>
        </div>
      </form>
      {problem.value !== null && <Failure error={problem.value} />}
      {shown.value !== null && <Result before={shown.value.before} answer={shown.value.answer} />}
    </section>
  )
}
