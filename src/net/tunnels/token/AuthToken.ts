/**
 * Checks the form of an authtoken of ngrok: https://ngrok.com/docs/agent/#authtokens. The text itself is never part of
 * an answer.
 */

/** Today's have about fifty characters. */
const mostChars = 512
const printable = /^[\x21-\x7e]+$/

/** Describes the problem of a token, as the end of a sentence; null: none that shows. */
export const authTokenProblem = (token: string): string | null => {
  if (token === "") return "is empty"
  if (token.length > mostChars) return `is longer than ${mostChars} characters`
  return printable.test(token) ? null : "has spaces, control characters or letters that no authtoken has"
}
