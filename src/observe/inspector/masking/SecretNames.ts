/** Names of members, headers and parameters whose values are secrets. Pure. */

/** Ends of names, without `-`, `_`, `.` and blanks, in lower case. */
const ends =
  /(?:apikey|secretkey|accesskey|accesskeyid|privatekey|subscriptionkey|functionskey|functionkey|masterkey|encryptionkey|signingkey|accountkey|sharedkey|sharedaccesskey|licensekey|authkey|appkey|apitoken|accesstoken|refreshtoken|idtoken|authtoken|sessiontoken|bearertoken|securitytoken|csrftoken|xsrftoken|password|passwd|passphrase|passcode|pwd|secret|secrets|clientsecret|authorization|cookie|credential|credentials|connectionstring|jwt|clientassertion|sessionkey|sessionid|sessid|otp|bearer)$/

const tokenEnd = /token$/
/** Pattern of harmless tokens of models, pages and parsers. */
const harmlessTokens =
  /(?:max|min|next|prev|previous|page|paging|cursor|continuation|sync|eos|bos|pad|unk|sep|cls|mask|stop|special|start|end|prompt|completion|input|output|cancellation|first|last|per|by)token$/
/** Settings and ids whose names only end like those of secrets. */
const harmless = /^(?:maxoutput|numsecret|stop|idempotency|publicsessionid)/

export const plainName = (name: string): string => name.replaceAll(/[-_.\s[\]]/g, "").toLowerCase()

/** `certain`: any value is a secret; `likely`: one that looks like a token is. */
export type NameVerdict = "certain" | "likely" | "none"

const judge = (name: string): NameVerdict => {
  const plain = plainName(name)
  if (harmless.test(plain)) return "none"
  if (ends.test(plain)) return /sessionid$|sessid$/.test(plain) ? "likely" : "certain"
  return tokenEnd.test(plain) && !harmlessTokens.test(plain) ? "likely" : "none"
}

const maxJudged = 4_000
const judged = new Map<string, NameVerdict>()

export const verdictOf = (name: string): NameVerdict => {
  const known = judged.get(name)
  if (known !== undefined) return known
  const verdict = judge(name)
  if (judged.size >= maxJudged) judged.clear()
  judged.set(name, verdict)
  return verdict
}

const inHeaders =
  /authoriz|authentic|token|secret|api-?key|access-?key|passw|session|credential|cookie|signature|jwt|csrf|xsrf/i
/** Limits, algorithms and challenges. */
const harmlessHeaders = /ratelimit|^www-authenticate$|^proxy-authenticate$|^x-amzn?-|^access-control-|signature-input/i
const amazonSecrets = /^x-amz-(?:security-token|signature|credential)$/i

export const isSecretHeaderName = (name: string): boolean =>
  amazonSecrets.test(name) || (inHeaders.test(name) && !harmlessHeaders.test(name)) || verdictOf(name) === "certain"

const inQueries = new Set([
  "key",
  "token",
  "sig",
  "signature",
  "auth",
  "code",
  "secret",
  "sas",
  "hmac",
  "session",
  "t0ken"
])

export const isSecretParameter = (name: string): boolean => {
  const plain = plainName(name)
  return (
    inQueries.has(plain) ||
    verdictOf(name) !== "none" ||
    /^x(?:amz|goog)(?:signature|credential|securitytoken)$/.test(plain)
  )
}
