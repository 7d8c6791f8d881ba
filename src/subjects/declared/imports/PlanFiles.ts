/**
 * The files in which coding programs keep the tokens of a signed-in account, read as what they are. Pure. No client id is taken from them or
 * known here: tokens are renewed in the name of the program that got them, by that program.
 */
import * as Redacted from "effect/Redacted"
import { isArray, isObject, type JsonObject, objectOr, parseJson, stringOr } from "../Values.ts"

export interface PlanProgram {
  readonly name: string
  /** Path below the home folder. */
  readonly file: string
  /** Variable that names another folder for it; null: there is none. */
  readonly folderVariable: string | null
}

/** Programs by the id of the provider. */
export const planPrograms: ReadonlyMap<string, PlanProgram> = new Map([
  // https://docs.claude.com/en/docs/claude-code/iam#credential-management
  ["claude", { name: "Claude Code", file: ".claude/.credentials.json", folderVariable: "CLAUDE_CONFIG_DIR" }],
  // https://developers.openai.com/codex/auth
  ["codex", { name: "Codex", file: ".codex/auth.json", folderVariable: "CODEX_HOME" }],
  // https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/authentication.md
  ["gemini", { name: "Gemini CLI", file: ".gemini/oauth_creds.json", folderVariable: null }]
])

export interface PlanTokens {
  /** Id of the provider whose file it is. */
  readonly provider: string
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | null
  /** Epoch milliseconds; null: it is not known. */
  readonly expiresAtMs: number | null
  /** Headers that the provider needs with every request beside the token. */
  readonly headers: Readonly<Record<string, string>>
}

export type PlanFile =
  | { readonly _tag: "Tokens"; readonly tokens: PlanTokens }
  /** The program is used with a key and has no plan. */
  | { readonly _tag: "OnlyKey"; readonly provider: string }
  /** The program is signed out. */
  | { readonly _tag: "SignedOut"; readonly provider: string }

const maxTokenChars = 16_384
const tokenOf = (value: unknown): Redacted.Redacted | null => {
  const text = typeof value === "string" ? value.trim() : ""
  return text.length <= maxTokenChars && /^[\x21-\x7e]+$/.test(text) ? Redacted.make(text) : null
}

/** Largest time in ms; a greater number is none. */
const maxTimeMs = 8.64e15
const timeOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value > 0 && value <= maxTimeMs ? value : null

/** The end of a token that is a JWT (RFC 7519 §4.1.4); null: it is none, or does not say. Its signature is the provider's affair. */
const endOfJwt = (token: Redacted.Redacted): number | null => {
  const [, body = ""] = Redacted.value(token).split(".")
  const claims = parseJson(Buffer.from(body, "base64url").toString("utf8"))
  const { exp } = objectOr(claims)
  return typeof exp === "number" ? timeOf(exp * 1000) : null
}

const read = (
  provider: string,
  accessToken: unknown,
  refreshToken: unknown,
  expiresAtMs: unknown,
  headers: Readonly<Record<string, string>> = {}
): PlanFile => {
  const access = tokenOf(accessToken)
  if (access === null) return { _tag: "SignedOut", provider }
  const end = timeOf(expiresAtMs) ?? endOfJwt(access)
  return {
    _tag: "Tokens",
    tokens: { provider, accessToken: access, refreshToken: tokenOf(refreshToken), expiresAtMs: end, headers }
  }
}

const codexFile = (content: JsonObject): PlanFile => {
  const tokens = content["tokens"]
  if (!isObject(tokens)) {
    return stringOr(content["OPENAI_API_KEY"]) === null
      ? { _tag: "SignedOut", provider: "codex" }
      : { _tag: "OnlyKey", provider: "codex" }
  }
  const account = stringOr(tokens["account_id"])
  const isAccount = account !== null && /^[\w.-]{1,200}$/.test(account)
  // One account may belong to several workspaces; this names the one that was signed in to.
  const headers = isAccount ? { "chatgpt-account-id": account } : {}
  return read("codex", tokens["access_token"], tokens["refresh_token"], null, headers)
}

/** Null: it is the file of none of these programs. */
export const readPlanFile = (text: string): PlanFile | null => {
  const parsed = parseJson(text)
  if (!isObject(parsed) || isArray(parsed)) return null
  const claude = parsed["claudeAiOauth"]
  if (claude !== undefined) {
    const { accessToken, expiresAt, refreshToken } = objectOr(claude)
    return read("claude", accessToken, refreshToken, expiresAt)
  }
  if ("tokens" in parsed || "OPENAI_API_KEY" in parsed) return codexFile(parsed)
  // Google's own form of an answer with tokens, with the time in milliseconds.
  if ("access_token" in parsed && "expiry_date" in parsed) {
    return read("gemini", parsed["access_token"], parsed["refresh_token"], parsed["expiry_date"])
  }
  return null
}
