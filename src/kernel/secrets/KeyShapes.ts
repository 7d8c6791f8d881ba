/** Removes texts that look like a credential, of whatever owner. Linear in the length of the text. */

const mark = "[redacted]"

/** Beginnings that issuers give their keys, with what follows them. A key has no blanks in it. */
const keys =
  /(?<![\w-])(?:gw[rs]?_|sk-|sk_|pk-|pk_|rk_|gsk_|xai-|hf_|r8_|fal-|key-|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|AIza|AKIA|whsec_|ya29\.)[\w./+=~-]{12,}/g
/** The credential of an `Authorization` header, and JSON web tokens. */
const bearers = /\b(bearer|basic|token)(\s{1,4})[\w.~+/=-]{16,}/gi
const webTokens = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{0,4096})?/g

export const withoutKeys = (text: string): string =>
  text.replaceAll(webTokens, mark).replaceAll(keys, mark).replaceAll(bearers, `$1$2${mark}`)
