/** Steps of work in the background: which jobs are under way after one has told where it stands. Pure. */
export interface Job {
  readonly kind: string
  readonly id: string
  readonly state: string
  readonly done: number
  /** Null: not known. */
  readonly total: number | null
}

/** Returns how far all of them are together, from 0 to 1; null: that of one is not known, or it has one step only. */
export const shareOf = (known: ReadonlyArray<Job>): number | null => {
  let done = 0
  let total = 0
  for (const job of known) {
    if (job.total === null || job.total <= 1) return null
    done += job.done
    total += job.total
  }
  return total === 0 ? null : Math.min(1, done / total)
}

/** More than a person follows; the rest are in their lists. */
const mostKept = 100

const over: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "expired"])

/** Reads what a frame says of a job; null: it is not of this form. */
export const jobOf = (data: Readonly<Record<string, unknown>>): Job | null => {
  const { done, id, kind, state, total } = data
  if (typeof kind !== "string" || typeof id !== "string" || typeof state !== "string") return null
  return { kind, id, state, done: typeof done === "number" ? done : 0, total: typeof total === "number" ? total : null }
}

export const isOver = ({ state }: Pick<Job, "state">): boolean => over.has(state)

/** The jobs under way after one has told where it stands. */
export const withJob = (known: ReadonlyArray<Job>, job: Job): ReadonlyArray<Job> => {
  const place = known.findIndex(({ id, kind }) => id === job.id && kind === job.kind)
  if (isOver(job)) return place === -1 ? known : known.toSpliced(place, 1)
  return place === -1 ? [...known, job].slice(-mostKept) : known.with(place, job)
}
