/**
 * Reason for which a provider may have billed another amount for a call than was booked. `unpriced`: no price is known, so 0 was booked. `voided`:
 * another call of the request answered (a lost race, a failed try), and 0 was booked. The others were booked by an estimate: the provider reported
 * no usage (`estimated`), the client left (`aborted`), or the answer broke off (`failed`).
 */
export const callReasons = ["unpriced", "voided", "estimated", "aborted", "failed"] as const
export type CallReason = (typeof callReasons)[number]
