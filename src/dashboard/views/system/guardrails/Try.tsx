/** A box for a text: what guardrails find in it, and what would be sent of it. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { guardrailsTest } from "../../../api/calls.generated.ts"
import { typing } from "../../../ui/handlers.ts"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/guardrails.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { findingsOf, type Finding, marked } from "./findings.ts"

type Tested = AnswerOf<typeof guardrailsTest>

const kindWords = { personal: words.personal, injection: words.injection } as const

const Rows = ({ findings, text }: { readonly findings: ReadonlyArray<Finding>; readonly text: string }) => (
  <Table label={words.marked} columns={words.columns}>
    {findings.map(({ end, kind, name, severity, start }) => (
      <tr key={`${kind} ${name} ${start}`}>
        <td>
          <code>{visible(text.slice(start, end))}</code>
        </td>
        <td>
          {kindWords[kind]}: {visible(name)}
        </td>
        <td>
          {severity === null ? (
            "–"
          ) : (
            <State kind={severity === "high" ? "bad" : "warning"}>{words.severities[severity] ?? severity}</State>
          )}
        </td>
      </tr>
    ))}
  </Table>
)

const Result = ({ tested, text }: { readonly tested: Tested; readonly text: string }) => {
  const findings = findingsOf(tested)
  return (
    <div class="stack" aria-live="polite">
      <State kind={findings.length === 0 ? "good" : "warning"}>
        {findings.length === 0 ? words.nothing : words.found(findings.length)}
      </State>
      {findings.length > 0 && (
        <>
          <pre class="answer" tabIndex={0} aria-label={words.marked}>
            {marked(text, findings).map(({ at, isFound, part }) =>
              isFound ? <mark key={at}>{visible(part)}</mark> : visible(part)
            )}
          </pre>
          <Rows findings={findings} text={text} />
        </>
      )}
      <div class="sides">
        <section class="stack" aria-label={words.sent}>
          <h4>{words.sent}</h4>
          {tested.sent === null ? (
            <State kind="bad">{words.refused}</State>
          ) : tested.sent === text ? (
            <State kind="quiet">{words.asItIs}</State>
          ) : (
            <pre class="answer" tabIndex={0}>
              {visible(tested.sent)}
            </pre>
          )}
        </section>
        <section class="stack" aria-label={words.redacted}>
          <h4>{words.redacted}</h4>
          <pre class="answer" tabIndex={0}>
            {visible(tested.redacted)}
          </pre>
        </section>
      </div>
    </div>
  )
}

export const Try = () => {
  const id = useId()
  const text = useSignal("")
  const tested = useSignal<{ readonly of: string; readonly answer: Tested } | null>(null)
  const { isBusy, problem, run } = useWork([], true)
  const submit = (event: Event): void => {
    event.preventDefault()
    const of = text.value
    void run(async () => {
      tested.value = { of, answer: await guardrailsTest({ body: { text: of } }) }
    })
  }
  return (
    <section class="card stack" aria-label={words.test}>
      <h3>{words.test}</h3>
      <form class="stack" onSubmit={submit}>
        <div class="field">
          <label for={id}>{words.testHint}</label>
          <textarea
            id={id}
            class="input"
            rows={4}
            placeholder={words.example}
            value={text.value}
            onInput={typing(text)}
          />
        </div>
        <div class="buttons">
          <button type="submit" class="button main-action" disabled={isBusy.value || text.value === ""}>
            {words.run}
          </button>
        </div>
      </form>
      {problem.value !== null && <Failure error={problem.value} />}
      {tested.value !== null && <Result tested={tested.value.answer} text={tested.value.of} />}
    </section>
  )
}
