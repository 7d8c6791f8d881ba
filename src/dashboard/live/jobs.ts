/** Work in the background that is under way, as the live feed tells it. */
import { signal } from "@preact/signals"
import { useCallback, useEffect } from "preact/hooks"
import { queries, refresh } from "../api/queries.ts"
import type { Job } from "../ui/Jobs.tsx"
import { useFeed } from "./feed.ts"
import type { FeedEvent } from "./socket.ts"

/** The jobs under way, the one that began last at the end. */
export const jobs = signal<ReadonlyArray<Job>>([])

/** More than a person follows; the rest are in their lists. */
const mostKept = 100

const over: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "expired"])

/** Answers that are old when a job of a kind is over. */
const shownBy: Readonly<Record<string, ReadonlyArray<string>>> = {
  backup: ["backups"],
  batch: ["batches", "files"],
  evaluation: ["evals"],
  modelList: ["models", "providers"],
  install: ["plugins", "tunnels"]
}

/** Reads what a frame says of a job; null: it is not of this form. */
export const jobOf = ({ data }: Pick<FeedEvent, "data">): Job | null => {
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

const forget = (): void => {
  jobs.value = []
}

/** Follows the jobs while the page is seen. */
export const useJobs = (): void => {
  useFeed(
    "jobs",
    useCallback((event: FeedEvent) => {
      // A frame that stands for several has left some out: one of them may have been an end.
      if (event.sampled !== undefined) {
        forget()
        void queries.invalidateQueries()
      }
      const job = jobOf(event)
      if (job === null) return
      jobs.value = withJob(jobs.value, job)
      if (isOver(job)) for (const key of shownBy[job.kind] ?? []) void refresh(key)
    }, [])
  )
  useEffect(() => {
    // What ends while nobody looks is not told: those that go on tell themselves again.
    const onSeen = (): void => {
      if (document.visibilityState === "hidden") forget()
    }
    document.addEventListener("visibilitychange", onSeen)
    return () => document.removeEventListener("visibilitychange", onSeen)
  }, [])
}
