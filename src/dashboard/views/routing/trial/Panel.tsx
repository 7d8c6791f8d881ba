/** One of the trials: its title, how far it is, a button that ends it, and what came of it. */
import type { ComponentChildren } from "preact"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { count } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"
import type { Run } from "./run.ts"

interface Properties<A> {
  readonly title: string
  readonly run: Run<A>
  readonly start: () => void
  readonly stop: () => void
  readonly canRun: boolean
  /** Fields that say what is tried. */
  readonly fields?: ComponentChildren
  readonly children: (answer: A) => ComponentChildren
}

const Progress = <A,>({ progress, state }: Run<A>) => {
  if (state === "stopped") return <State kind="warning">{words.trial.stopped}</State>
  if (state !== "running" && state !== "waiting") return null
  return (
    <span class="progress">
      <progress
        aria-label={words.trial.running}
        {...(progress === null ? {} : { max: progress.total, value: progress.done })}
      />
      {progress !== null && (
        <span class="quiet">{words.trial.progress(count(progress.done), count(progress.total))}</span>
      )}
    </span>
  )
}

export const Panel = <A,>({ canRun, children, fields, run, start, stop, title }: Properties<A>) => (
  <section class="card stack" aria-label={title}>
    <h3>{title}</h3>
    {fields}
    <div class="buttons state-line">
      {run.state === "running" || run.state === "waiting" ? (
        <button key="stop" type="button" class="button" onClick={stop}>
          {words.trial.stop}
        </button>
      ) : (
        <button key="run" type="button" class="button" disabled={!canRun} onClick={start}>
          {words.trial.run}
        </button>
      )}
      <Progress {...run} />
    </div>
    {run.error !== null && <Failure error={run.error} />}
    {run.answer !== null && (
      <div class={run.state === "done" ? "stack" : "stack old"} aria-busy={run.state !== "done"}>
        {children(run.answer)}
      </div>
    )}
  </section>
)
