/** One way to capture: what it captures, what it changes on the machine, and its switch. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { ApiError } from "../../api/ApiError.ts"
import { refresh } from "../../api/queries.ts"
import { opening } from "../../ui/handlers.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { useWork } from "../../ui/useWork.ts"
import { State } from "../../ui/State.tsx"
import { words } from "../../words/inspector.ts"

interface Properties {
  readonly name: string
  readonly what: string
  readonly changes: string
  readonly isOn: boolean
  /** Said behind the state. */
  readonly told?: string
  /** Reason for which it cannot be switched on; null: it can. */
  readonly impossible?: string | null
  /** Changes to the machine, in a sentence; absent: it is switched on without a question. */
  readonly danger?: string
  readonly on: (() => Promise<unknown>) | null
  readonly off: (() => Promise<unknown>) | null
  /** The call that switches it, for a terminal. */
  readonly command?: { readonly call: { readonly method: string; readonly path: string }; readonly body?: unknown }
  readonly children?: ComponentChildren
}

/** Answers that may be old after a step that changes what is captured, and how. */
export const ofCapture = ["capture-modes", "agent-bridge", "capture-hosts", "tproxy"] as const

export const refreshCapture = async (): Promise<void> => {
  await Promise.all(ofCapture.map((key) => refresh(key)))
}

interface WithHint {
  readonly error?: { readonly hint?: unknown }
}

/** Lines for a terminal that a refusal brings. */
const hintOf = ({ answer }: ApiError): string | null => {
  const hint = (answer as WithHint | undefined)?.error?.hint
  return typeof hint === "string" ? hint : null
}

export const Mode = (properties: Properties) => {
  const { changes, children, command, danger, impossible = null, isOn, name, off, on, told, what } = properties
  const { isBusy, problem: error, run } = useWork([], true)
  const isAsked = useSignal(false)
  const attempt = (change: () => Promise<unknown>): void =>
    void run(async () => {
      try {
        await change()
      } finally {
        await refreshCapture()
      }
    })
  return (
    <section class="card mode" aria-label={name}>
      <header class="view-head">
        <h2>{name}</h2>
        <State kind={isOn ? "trial" : "quiet"} icon={isOn ? "live" : "none"}>
          {isOn ? words.capture.on : words.capture.off}
          {isOn && told !== undefined && told !== "" && ` ${told}`}
        </State>
      </header>
      <p>{what}</p>
      <p class="quiet">
        {words.capture.changes} {changes}
      </p>
      {children}
      {impossible !== null && !isOn && (
        <State kind="warning">
          {words.capture.unavailable}: {impossible}
        </State>
      )}
      <div class="buttons">
        {isOn && off !== null && (
          <button key="off" type="button" class="button" disabled={isBusy.value} onClick={() => attempt(off)}>
            {words.capture.stop}
          </button>
        )}
        {!isOn && on !== null && (
          <button
            key="on"
            type="button"
            class="button"
            disabled={isBusy.value || impossible !== null}
            onClick={() => {
              if (danger === undefined) attempt(on)
              else isAsked.value = true
            }}
          >
            {words.capture.start}
          </button>
        )}
      </div>
      {error.value !== null && <Failure error={error.value} />}
      {error.value !== null && hintOf(error.value) !== null && <pre>{hintOf(error.value)}</pre>}
      {command !== undefined && <CopyAs {...command} />}
      {danger !== undefined && on !== null && (
        <Danger
          title={name}
          means={danger}
          name={name}
          verb={words.capture.start}
          {...opening(isAsked)}
          run={async () => {
            await on()
            await refreshCapture()
          }}
        />
      )}
    </section>
  )
}
