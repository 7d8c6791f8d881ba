/** Selects the jobs of a list: the query of OpenAI's `GET /v1/videos`. Pure. */
import { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { JobListQuery } from "../../plane/jobs/MediaJobs.ts"

const usuallyListed = 20
const mostListed = 100

const invalid = (param: string, problem: string): InvalidRequest =>
  new InvalidRequest({ message: `${param}: ${problem}`, param, details: [{ field: param, message: problem }] })

export const jobListOf = (query: URLSearchParams): JobListQuery | InvalidRequest => {
  const limit = query.get("limit") ?? String(usuallyListed)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostListed) {
    return invalid("limit", `must be a whole number from 1 to ${mostListed}`)
  }
  const order = query.get("order") ?? "desc"
  if (order !== "asc" && order !== "desc") return invalid("order", "must be asc or desc")
  return { after: query.get("after"), limit: Number(limit), order }
}
