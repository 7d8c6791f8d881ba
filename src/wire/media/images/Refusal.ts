/** A provider's content filter has kept the picture back: the request is at fault, not the account. */
import type { UpstreamProblem } from "../../canonical/Event.ts"

const maxReasonChars = 500

export const contentRefused = (reason: string): UpstreamProblem => ({
  status: 400,
  message: `The provider's content filter has refused the picture: ${reason.slice(0, maxReasonChars)}`,
  type: "invalid_request_error",
  code: "content_policy_violation"
})
