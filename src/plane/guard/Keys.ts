/** Secrets of programs in a text: keys with a known beginning, tokens, private keys, and passwords in addresses. Pure. */
import { findPrivateKeys } from "../../kernel/secrets/PrivateKeys.ts"
import { hasTokenChecksum } from "./checks.ts"

export interface KeyRule {
  readonly pattern: RegExp
  /** Group that is the secret; 0: all of it. */
  readonly group?: number
  readonly isKey?: (secret: string) => boolean
  /** Text without which there is no finding. */
  readonly needs: string
}

/** Makes a rule that fits behind no character of a word: `risk-` does not begin a key. */
const rule = (needs: string, body: string, isKey?: (secret: string) => boolean): KeyRule => ({
  needs,
  pattern: new RegExp(`(?<![\\w-])${needs}${body}(?![\\w-])`, "g"),
  ...(isKey === undefined ? {} : { isKey })
})

/** Checks for at least one digit: names in code have words behind the same beginnings. */
const hasDigit = (secret: string): boolean => /\d/.test(secret)

const isRandom = (secret: string): boolean => hasDigit(secret) && /[A-Za-z]/.test(secret) && !/(.)\1{7}/.test(secret)

const checked = (secret: string): boolean => hasTokenChecksum(secret.slice(secret.indexOf("_") + 1))

/** Longest private key that is found whole. */
export const maxPrivateKeyChars = 8_192

/**
 * Beginnings as their issuers document them, e.g. https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github,
 * https://docs.stripe.com/keys, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, https://api.slack.com/authentication/token-types.
 */
export const keyRules: ReadonlyArray<KeyRule> = [
  rule("sk-", "[\\w-]{20,256}", hasDigit),
  rule("sk_", "(?:live|test)_\\w{16,256}"),
  rule("rk_", "(?:live|test)_\\w{16,256}"),
  rule("pk_", "live_\\w{16,256}"),
  rule("whsec_", "[\\w+/=]{24,256}"),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((begin) => rule(begin, "[A-Za-z0-9]{36}", checked)),
  rule("npm_", "[A-Za-z0-9]{36}", checked),
  rule("github_pat_", "\\w{22,255}", isRandom),
  rule("glpat-", "[\\w-]{20,64}"),
  ...["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xapp-"].map((begin) => rule(begin, "[\\w-]{10,256}", hasDigit)),
  rule("AIza", "[\\w-]{35}"),
  rule("ya29\\.", "[\\w-]{20,512}"),
  rule("AKIA", "[A-Z2-7]{16}"),
  rule("ASIA", "[A-Z2-7]{16}"),
  rule("hf_", "[A-Za-z0-9]{30,64}"),
  rule("gsk_", "[A-Za-z0-9]{32,64}"),
  rule("r8_", "[A-Za-z0-9]{32,64}"),
  rule("xai-", "[A-Za-z0-9]{32,128}"),
  rule("pplx-", "[A-Za-z0-9]{32,64}"),
  rule("gw_", "[\\w-]{20,128}", isRandom),
  rule("gwr_", "[\\w-]{20,128}", isRandom),
  rule("gws_", "[\\w-]{20,128}", isRandom),
  rule("SG\\.", "[\\w-]{16,32}\\.[\\w-]{32,64}"),
  rule("dop_v1_", "[a-f0-9]{64}"),
  rule("shpat_", "[a-fA-F0-9]{32}"),
  rule("sq0atp-", "[\\w-]{22}"),
  rule("EAAA", "[\\w-]{60}"),
  rule("key-", "[a-f0-9]{32}"),
  // RFC 7519: the header of a token is an object.
  rule("eyJ", "[\\w-]{8,2048}\\.eyJ[\\w-]{8,4096}\\.[\\w-]{0,1024}"),
  // RFC 3986, section 3.2.1: user and password in front of a host.
  {
    needs: "://",
    pattern: /\b[a-z][a-z\d+.-]{1,20}:\/\/([^\s/?#@:'"<>]{0,128}:[^\s/?#@'"<>]{3,256})@[\w[]/gi,
    group: 1,
    isKey: isNoStandIn
  },
  {
    needs: "",
    pattern:
      /\b(?:api[_-]?key|apikey|secret[_-]?(?:access[_-]?)?key|access[_-]?token|auth[_-]?token|client[_-]?secret|bearer)["']?(?: ?[:=] ?| )["']?([\w./+=~-]{20,256})(?![\w./+=~-])/gi,
    group: 1,
    isKey: isRandom
  }
]

/** Checks that it is no placeholder of documentation for a password. */
function isNoStandIn(secret: string): boolean {
  return !/[${}[\]<>*]|:(?:password|pass|pwd|secret|xxx+)$/i.test(secret)
}

export const findKeys = (text: string, found: (start: number, end: number) => void): void => {
  findPrivateKeys(text, maxPrivateKeyChars, found)
  for (const { group = 0, isKey, needs, pattern } of keyRules) {
    if (needs !== "" && !text.includes(needs.replace("\\", ""))) continue
    for (const match of text.matchAll(pattern)) {
      const secret = match[group]
      if (secret === undefined || isKey?.(secret) === false) continue
      const start = match.index + (group === 0 ? 0 : match[0].lastIndexOf(secret))
      found(start, start + secret.length)
    }
  }
}
