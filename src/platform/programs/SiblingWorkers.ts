/** Workers beside an owner, as the first process tells of them: which ones run, and which have ended. */
import * as Context from "effect/Context"
import { heedFirst, type ProcessRole, type WorkerProcess } from "./Siblings.ts"

type WorkerLife = Pick<WorkerProcess, "place" | "life">

const nameOf = ({ life, place }: WorkerLife): string => `${place}.${life}`

export interface SiblingWorkers {
  /** Workers that are wanted. */
  readonly wanted: number
  readonly running: () => ReadonlyArray<WorkerProcess>
  /** Calls `listener` with those that end, until the returned function is called. Ends that came while there was no listener are told at once. */
  readonly onLeft: (listener: (worker: WorkerLife) => void) => () => void
  readonly close: () => void
}

/** The workers of this gateway; null: it is one process. */
export class WorkersBeside extends Context.Reference<WorkersBeside>()("gateway/platform/WorkersBeside", {
  defaultValue: (): SiblingWorkers | null => null
}) {}

export const watchWorkers = ({ running, workers }: Pick<ProcessRole, "running" | "workers">): SiblingWorkers => {
  const processes = new Map(running.map((worker) => [nameOf(worker), worker]))
  let untold: Array<WorkerLife> = []
  let told: ((worker: WorkerLife) => void) | null = null
  const close = heedFirst((message) => {
    if (message.type === "joined") return void processes.set(nameOf(message.worker), message.worker)
    if (message.type !== "left") return
    const { life, place } = message
    processes.delete(nameOf(message))
    if (told === null) untold.push({ place, life })
    else told({ place, life })
  })
  return {
    wanted: workers,
    running: () => [...processes.values()],
    onLeft: (listener) => {
      told = listener
      const before = untold
      untold = []
      for (const worker of before) listener(worker)
      return () => {
        if (told === listener) told = null
      }
    },
    close
  }
}
