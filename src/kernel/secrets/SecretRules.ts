/** Requirements for secrets chosen by a person. Pure; the messages never contain the secret. */

const leastKeyLength = 16
const leastPasswordLength = 8
const mostPasswordLength = 200

/** Describes the problem of an admin key or encryption key; null when there is none. */
export const keyProblem = (key: string): string | null =>
  key.trim().length < leastKeyLength ? `must have at least ${leastKeyLength} characters` : null

/** Describes the problem of a new admin password; null when there is none. */
export const passwordProblem = (password: string): string | null =>
  password.length < leastPasswordLength || password.length > mostPasswordLength
    ? `must have ${leastPasswordLength} to ${mostPasswordLength} characters`
    : null
