/**
 * Lanes of a socket: one request at a time in each, the next ones wait in order. A lane without a name is the socket's own.
 * Pure state; bounded by lanes, waiting requests and their bytes.
 */

export interface LanesLimits {
  readonly maxLanes: number
  /** Waiting requests of all lanes together. */
  readonly maxQueued: number
  readonly maxQueuedBytes: number
}

/** `start` is called for each job when its turn comes, and calls `done` once when it is over. */
export type StartJob<Job> = (job: Job, done: () => void) => void

export interface Lanes<Job> {
  readonly submit: (lane: string | null, job: Job, bytes: number) => "taken" | "too_many_lanes" | "queue_full"
  /** Takes the waiting jobs of all lanes back; those that run go on. */
  readonly takeQueued: () => ReadonlyArray<Job>
  readonly isIdle: () => boolean
}

interface Waiting<Job> {
  readonly job: Job
  readonly bytes: number
}

export const makeLanes = <Job>(limits: LanesLimits, start: StartJob<Job>): Lanes<Job> => {
  /** Lanes that are busy, with what waits in them. */
  const busy = new Map<string | null, Array<Waiting<Job>>>()
  let queued = 0
  let queuedBytes = 0

  const run = (lane: string | null, job: Job): void => {
    let over = false
    start(job, () => {
      if (over) return
      over = true
      next(lane)
    })
  }

  const next = (lane: string | null): void => {
    const waiting = busy.get(lane)?.shift()
    if (waiting === undefined) {
      busy.delete(lane)
      return
    }
    queued -= 1
    queuedBytes -= waiting.bytes
    run(lane, waiting.job)
  }

  return {
    submit: (lane, job, bytes) => {
      const line = busy.get(lane)
      if (line === undefined) {
        if (busy.size >= limits.maxLanes) return "too_many_lanes"
        busy.set(lane, [])
        run(lane, job)
        return "taken"
      }
      if (queued >= limits.maxQueued || queuedBytes + bytes > limits.maxQueuedBytes) return "queue_full"
      line.push({ job, bytes })
      queued += 1
      queuedBytes += bytes
      return "taken"
    },
    takeQueued: () => {
      const jobs = [...busy.values()].flatMap((line) => line.splice(0).map(({ job }) => job))
      queued = 0
      queuedBytes = 0
      return jobs
    },
    isIdle: () => busy.size === 0
  }
}
