/** Holds the state of the playground. It outlives the view: who looks at a decision and comes back finds everything as it was. */
import { type Signal, signal } from "@preact/signals"
import { words } from "../../words/playground.ts"
import { type Draft, emptyDraft } from "./draft.ts"
import type { Endpoint } from "./endpoints.ts"
import type { Run } from "./estimates.ts"
import { makeRun } from "./run.ts"

export interface One {
  readonly id: number
  readonly model: Signal<string>
  /** Null: the shared one. */
  readonly own: Signal<Draft | null>
  /** Reason for which it could not be sent; null: it could. */
  readonly problem: Signal<string | null>
  readonly run: Signal<Run>
}

export const mostColumns = 4

let last = 0

const makeOne = (model: string): One => ({
  id: ++last,
  model: signal(model),
  own: signal<Draft | null>(null),
  problem: signal<string | null>(null),
  run: makeRun()
})

export const endpoint = signal<Endpoint>("chat")
export const draft = signal<Draft>(emptyDraft(words.firstPrompt))
/** Id of the key that asks; empty: the session. */
export const asKey = signal("")
export const columns = signal<ReadonlyArray<One>>([makeOne("auto")])

export const addColumn = (): void => {
  if (columns.value.length < mostColumns)
    columns.value = [...columns.value, makeOne(columns.value.at(-1)?.model.value ?? "auto")]
}

export const removeColumn = (id: number): void => {
  columns.value = columns.value.filter((one) => one.id !== id)
}

export const setModels = (models: ReadonlyArray<string>): void => {
  const wanted = models.slice(0, mostColumns)
  if (wanted.length === 0) return
  columns.value = wanted.map((model, index) => {
    const known = columns.value[index]
    if (known === undefined) return makeOne(model)
    known.model.value = model
    return known
  })
}

export const isRunning = ({ run }: One): boolean => run.value.state === "waiting" || run.value.state === "running"
