/** Work in the background that is under way, as the live feed tells it. */
import { signal } from "@preact/signals"
import { useCallback, useEffect } from "preact/hooks"
import { queries, refresh } from "../api/queries.ts"
import { isOver, type Job, jobOf, withJob } from "../ui/jobs/jobSteps.ts"
import { useFeed } from "./feed.ts"
import type { FeedEvent } from "./socket.ts"

/** The jobs under way, the one that began last at the end. */
export const jobs = signal<ReadonlyArray<Job>>([])

/** Answers that are old when a job of a kind is over. */
const shownBy: Readonly<Record<string, ReadonlyArray<string>>> = {
  backup: ["backups"],
  batch: ["batches", "files"],
  evaluation: ["evals"],
  modelList: ["models", "providers"],
  install: ["plugins", "tunnels"]
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
      const job = jobOf(event.data)
      if (job === null) return
      jobs.value = withJob(jobs.value, job)
      if (isOver(job)) for (const key of shownBy[job.kind] ?? []) void refresh(key)
    }, [])
  )
  useEffect(() => {
    // An end while the page is hidden is not heard; jobs that go on are heard at their next step.
    const onSeen = (): void => {
      if (document.visibilityState === "hidden") forget()
    }
    document.addEventListener("visibilitychange", onSeen)
    return () => document.removeEventListener("visibilitychange", onSeen)
  }, [])
}
