/** A job whose answer is brought into the form of `Outputs`, for kinds of requests that share the job of one provider. */
import type { JsonObject } from "../../json/Json.ts"
import type { JobStep, PolledJob } from "../../PolledJob.ts"

/** `read`: of the provider's last answer; null when it holds nothing that was made. */
export const withOutputs = (job: PolledJob, read: (answer: JsonObject) => JsonObject | null): PolledJob => {
  const mapped = (step: JobStep | null): JobStep | null => {
    switch (step?._tag) {
      case "Done":
        return { ...step, answer: read(step.answer) ?? {} }
      case "Fetch":
        return {
          ...step,
          read: (bodies) => {
            const answer = step.read(bodies)
            return answer === null ? null : read(answer)
          }
        }
      default:
        return step
    }
  }
  return {
    ...job,
    submitted: (answer, place, next) => mapped(job.submitted(answer, place, next)),
    polled: (answer, ticket) => mapped(job.polled(answer, ticket))
  }
}
