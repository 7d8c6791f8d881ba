/** The messages of the thread: jobs that are done one after the other, and their reports together. */
import { jobsIn, type JobsMessage, type Packed, packedReports, type ReportsMessage } from "./Packed.ts"
import { makeJobs, type Reports } from "./ThreadJobs.ts"

const reportOf = makeJobs()

/** Does the jobs, and returns the reports in their order; null: a job could not be done. */
export const handle = async (message: JobsMessage): Promise<Packed<ReportsMessage>> => {
  const reports: Array<Reports[keyof Reports] | null> = []
  for (const job of jobsIn(message)) reports.push(await reportOf(job).catch(() => null))
  return packedReports(reports)
}
