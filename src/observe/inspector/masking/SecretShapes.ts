/**
 * Secrets that are known by their beginning, as their issuers document it, e.g. https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github,
 * https://docs.stripe.com/keys, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, https://api.slack.com/authentication/token-types,
 * https://docs.gitlab.com/security/tokens/. In doubt a text is masked: unlike the guardrails (`plane/guard/Keys`), which alter what a model
 * reads, this only alters what a person sees.
 */

/** Characters that a secret is made of, behind its beginning. */
export type Alphabet = "word" | "dotted" | "base64" | "hex" | "capitals" | "path"

export interface SecretShape {
  readonly begin: string
  readonly alphabet: Alphabet
  /** Fewer characters behind the beginning are no secret. */
  readonly least: number
  /** Character that has to be among those behind the beginning. */
  readonly needs?: string
}

const of = (alphabet: Alphabet, least: number, ...begins: ReadonlyArray<string>): ReadonlyArray<SecretShape> =>
  begins.map((begin) => ({ begin, alphabet, least }))

/** A longer beginning is before one that it begins with. */
const unsorted: ReadonlyArray<SecretShape> = [
  // Providers of models.
  ...of("word", 12, "sk-ant-", "sk-or-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-lf-", "sk-cp-"),
  ...of("word", 16, "sk-", "ak-", "pk-", "rk-", "csk-", "gsk_", "xai-", "pplx-", "nvapi-", "fw_", "r8_", "tgp_v1_"),
  ...of("word", 16, "hf_", "api_org_", "jina_", "tvly-", "fc-", "esecret_", "lsv2_pt_", "lsv2_sk_", "voy-", "vck_"),
  ...of("word", 40, "pa-"),
  ...of("base64", 60, "ABSK"),
  ...of("word", 16, "gw_", "gwr_", "gws_"),
  // Google.
  ...of("word", 30, "AIza"),
  ...of("dotted", 20, "ya29.", "1//0"),
  ...of("word", 20, "GOCSPX-", "AQ.Ab"),
  // Amazon: ids that go with a secret.
  ...of("capitals", 16, "AKIA", "ASIA", "ABIA", "ACCA"),
  // Places of code, packages and images.
  ...of("word", 16, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "npm_", "pypi-", "rubygems_", "dckr_pat_"),
  ...of("word", 16, "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "ATATT3", "ATBB"),
  // Chat.
  ...of("word", 10, "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xapp-"),
  ...of("dotted", 10, "xoxe.", "xoxe-"),
  ...of("path", 20, "hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
  // Payment and shops.
  ...of("word", 10, "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"),
  ...of("base64", 16, "whsec_"),
  ...of("word", 20, "shpat_", "shpss_", "shpca_", "shppa_", "sq0atp-", "sq0csp-", "EAAAE", "EAAAl"),
  // Hosting, mail, monitoring and tools.
  ...of("dotted", 30, "SG."),
  ...of("hex", 32, "key-", "dop_v1_", "doo_v1_", "dor_v1_", "dapi", "SK", "PMAK-"),
  ...of("dotted", 20, "hvs.", "hvb.", "dp.pt.", "dp.st.", "sk.eyJ", "pk.eyJ", "glc_", "sntrys_", "sntryu_"),
  ...of(
    "word",
    20,
    "lin_api_",
    "lin_oauth_",
    "ntn_",
    "secret_",
    "figd_",
    "HRKU-",
    "NRAK-",
    "glsa_",
    "pscale_tkn_",
    "sbp_"
  ),
  ...of("word", 16, "sb_secret_", "rnd_", "tfp_", "doppler_", "pul-", "fly_", "FlyV1_", "CFPAT-"),
  ...of("capitals", 40, "AGE-SECRET-KEY-1"),
  // RFC 7519. Behind the header there is a dot.
  { begin: "eyJ", alphabet: "dotted", least: 20, needs: "." }
]

export const secretShapes: ReadonlyArray<SecretShape> = unsorted.toSorted(
  (one, other) => other.begin.length - one.begin.length
)

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isCapital = (code: number): boolean => code >= 65 && code <= 90
const isSmall = (code: number): boolean => code >= 97 && code <= 122

const wordCodes = new Uint8Array(128)
for (let code = 0; code < 128; code += 1) {
  if (isSmall(code) || isDigit(code) || isCapital(code) || code === 95) wordCodes[code] = 1
}

/** Letters, digits, `_`. Called for every character. */
export const isWordCode = (code: number): boolean => code < 128 && wordCodes[code] === 1
const isHyphenated = (code: number): boolean => isWordCode(code) || code === 45

const alphabets: Readonly<Record<Alphabet, (code: number) => boolean>> = {
  word: isHyphenated,
  dotted: (code) => isHyphenated(code) || code === 46,
  // Behind a backslash a slash is escaped.
  base64: (code) => isHyphenated(code) || code === 43 || code === 47 || code === 61,
  hex: (code) => isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70),
  capitals: (code) => isCapital(code) || isDigit(code),
  path: (code) => isHyphenated(code) || code === 47
}

/** Finds the end of the run of an alphabet's characters. */
export const endOfRun = (text: string, from: number, alphabet: Alphabet): number => {
  const belongs = alphabets[alphabet]
  let at = from
  while (at < text.length && belongs(text.charCodeAt(at))) at += 1
  return at
}

const none: ReadonlyArray<SecretShape> = []
const byFirst: Array<ReadonlyArray<SecretShape>> = Array.from({ length: 128 }, () => none)
for (const shape of secretShapes) {
  const first = shape.begin.charCodeAt(0)
  byFirst[first] = [...(byFirst[first] ?? none), shape]
}

/**
 * Pairs of characters that a shape begins with: most words begin with none, and are not compared with one shape after
 * the other.
 */
const pairs = new Uint8Array(128 * 128)
for (const { begin } of secretShapes) {
  const row = 128 * begin.charCodeAt(0)
  if (begin.length > 1) pairs[row + begin.charCodeAt(1)] = 1
  else pairs.fill(1, row, row + 128)
}

/** The shape of the secret that begins at a place, and its end; null when none does. */
export const shapeAt = (text: string, at: number): { readonly shape: SecretShape; readonly end: number } | null => {
  const first = text.charCodeAt(at)
  const second = text.charCodeAt(at + 1)
  if (first >= 128 || (second < 128 && pairs[128 * first + second] === 0)) return null
  for (const shape of byFirst[text.charCodeAt(at)] ?? none) {
    if (!text.startsWith(shape.begin, at)) continue
    const from = at + shape.begin.length
    const end = endOfRun(text, from, shape.alphabet)
    if (end - from < shape.least) continue
    if (shape.needs !== undefined && !text.slice(from, end).includes(shape.needs)) continue
    return { shape, end }
  }
  return null
}
