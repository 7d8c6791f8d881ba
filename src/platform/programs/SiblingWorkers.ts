/** Workers beside an owner, as the first process tells of them: which ones run, and which have ended. */
import { heedFirst, type ProcessRole } from "./Siblings.ts"

/** A life of a worker. */
export interface WorkerLife {
  readonly place: number
  readonly life: number
}

export interface SiblingWorkers {
  /** Names of those that run now, `place.life`. */
  readonly running: () => ReadonlyArray<string>
  /** Calls `listener` with those that end, until the returned function is called. Ends that came while there was no listener are told at once. */
  readonly onLeft: (listener: (worker: WorkerLife) => void) => () => void
  readonly close: () => void
}

export const watchWorkers = ({ running }: Pick<ProcessRole, "running">): SiblingWorkers => {
  const names = new Set(running)
  let untold: Array<WorkerLife> = []
  let told: ((worker: WorkerLife) => void) | null = null
  const close = heedFirst((message) => {
    if (message.type !== "joined" && message.type !== "left") return
    const { life, place } = message
    const name = `${place}.${life}`
    if (message.type === "joined") return void names.add(name)
    names.delete(name)
    if (told === null) untold.push({ place, life })
    else told({ place, life })
  })
  return {
    running: () => [...names],
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
