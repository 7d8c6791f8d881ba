/** Requirements for secrets chosen by a person. Pure; the messages never contain the secret. */

const leastKeyLength = 16
const leastPasswordLength = 8
const mostPasswordLength = 200

/** What is wrong with an admin key or encryption key; null when nothing is. */
export const keyProblem = (key: string): string | null =>
  key.trim().length < leastKeyLength ? `must have at least ${leastKeyLength} characters` : null

/** What is wrong with a new admin password; null when nothing is. */
export const passwordProblem = (password: string): string | null =>
  password.length < leastPasswordLength || password.length > mostPasswordLength
    ? `must have ${leastPasswordLength} to ${mostPasswordLength} characters`
    : null
