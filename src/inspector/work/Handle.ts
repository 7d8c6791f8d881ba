/** The messages of the thread: jobs that are done one after the other, and their reports together. */
import { packedReports } from "./Packed.ts"
import { type Job, makeJobs, type Reports } from "./ThreadJobs.ts"

const reportOf = makeJobs()

/** In the order of the jobs; null: it could not be done. */
export const handle = async (jobs: ReadonlyArray<Job>) => {
  const reports: Array<Reports[keyof Reports] | null> = []
  for (const job of jobs) reports.push(await reportOf(job).catch(() => null))
  const { transfer, values } = packedReports(reports)
  return { reports: values, transfer }
}
