/** Sends a captured request again: through the gateway as a question of this session, or to the server it went to. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { inspectorReplay, inspectorReplayDirect } from "../../api/calls.generated.ts"
import { sendRaw } from "../../api/text.ts"
import { typing } from "../../ui/handlers.ts"
import { Failure } from "../../ui/Failure.tsx"
import { LongText } from "../../ui/editor/LongText.tsx"
import { useWork } from "../../ui/useWork.ts"
import { State } from "../../ui/State.tsx"
import { words } from "../../words/inspector.ts"
import { Changes } from "./Compare.tsx"
import type { WholeRecord } from "./record.ts"
import { StatusOf } from "./RecordList.tsx"

interface Outcome {
  readonly status: number
  readonly text: string
}

type Direct = AnswerOf<typeof inspectorReplayDirect>

const DirectAnswer = ({ answer }: { readonly answer: Direct }) => (
  <section class="stack" aria-label={words.replay.answer}>
    <p>
      <StatusOf status={answer.record.status} />
    </p>
    <LongText text={answer.record.responseBody ?? ""} label={words.replay.answer} isCode />
    <h3>{answer.diff.equal ? words.replay.same : words.replay.changes}</h3>
    <Changes changes={answer.diff.changes} />
  </section>
)

const bodyOf = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Runs one at a time, and ends it when the view is left. */
const useReplay = (record: WholeRecord) => {
  const { isBusy, problem: error, run: work } = useWork([], true)
  const outcome = useSignal<Outcome | null>(null)
  const direct = useSignal<Direct | null>(null)
  const leaving = useRef<AbortController | null>(null)
  useEffect(() => () => leaving.current?.abort(), [])
  const run = async (how: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    leaving.current = new AbortController()
    const { signal } = leaving.current
    outcome.value = null
    direct.value = null
    await work(() => how(signal))
  }
  const path = { id: record.id }
  return {
    isBusy,
    error,
    outcome,
    direct,
    stop: () => leaving.current?.abort(),
    through: (body: object) =>
      run(async (signal) => {
        outcome.value = await sendRaw(inspectorReplay.path, { path }, body, signal)
      }),
    straight: (body: object) =>
      run(async (signal) => {
        direct.value = await inspectorReplayDirect({ path, body, signal })
      })
  }
}

export const Replay = ({ record }: { readonly record: WholeRecord }) => {
  const model = useSignal("")
  const text = useSignal<string | null>(null)
  const problem = useSignal<string | null>(null)
  const { direct, error, isBusy, outcome, stop, straight, through } = useReplay(record)
  const changes = (): object | null => {
    const given = model.value.trim() === "" ? {} : { model: model.value.trim() }
    if (text.value === null) return given
    const body = bodyOf(text.value)
    problem.value = body === null ? words.replay.notJson : null
    return body === null ? null : { ...given, body }
  }
  const send = (how: (body: object) => Promise<void>, isText: boolean): void => {
    const body = changes()
    if (body === null) return
    void how(isText && text.value !== null ? { ...body, body: text.value } : body)
  }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send(through, false)
      }}
    >
      <div class="field">
        <label for="replay-model">{words.replay.model}</label>
        <input
          id="replay-model"
          class="input"
          autocomplete="off"
          spellcheck={false}
          placeholder={record.llm?.model ?? ""}
          value={model.value}
          onInput={typing(model)}
        />
        <p class="hint">{words.replay.modelHint}</p>
      </div>
      {text.value === null ? (
        <div class="buttons">
          <button
            type="button"
            class="button"
            onClick={() => {
              text.value = record.requestBody ?? ""
            }}
          >
            {words.replay.editBody}
          </button>
        </div>
      ) : (
        <div class="field">
          <label for="replay-body">{words.replay.body}</label>
          <textarea
            id="replay-body"
            class="input mono"
            rows={10}
            spellcheck={false}
            aria-invalid={problem.value !== null}
            value={text.value}
            onInput={typing(text)}
          />
          <p class="problem" role="alert">
            {problem.value}
          </p>
        </div>
      )}
      <p class="quiet">{words.replay.bodyHint}</p>
      <div class="buttons">
        {isBusy.value ? (
          <button key="stop" type="button" class="button" onClick={stop}>
            {words.replay.stop}
          </button>
        ) : (
          <button key="send" type="submit" class="button main-action">
            {words.replay.router}
          </button>
        )}
        <button
          type="button"
          class="button"
          disabled={isBusy.value}
          title={words.replay.directMeans}
          onClick={() => send(straight, true)}
        >
          {words.replay.direct}
        </button>
      </div>
      {isBusy.value && (
        <State kind="quiet" icon="wait">
          {words.replay.running}
        </State>
      )}
      {error.value !== null && <Failure error={error.value} />}
      {outcome.value !== null && (
        <section class="stack" aria-label={words.replay.answer}>
          <p>
            <StatusOf status={outcome.value.status} />
          </p>
          <LongText text={outcome.value.text} label={words.replay.answer} isCode />
        </section>
      )}
      {direct.value !== null && <DirectAnswer answer={direct.value} />}
    </form>
  )
}
