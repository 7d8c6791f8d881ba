/** Input of the rules: the facts of a failed attempt, and the parts that the rules look at. */
import type { AuthType } from "../../../subjects/connections/entity.ts"
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import { isDailyQuota, isMinuteQuota, isProjectDailyQuota } from "./BodyHints.ts"
import { type Echo, type CallerText } from "./Echo.ts"
import { detailReasons, type ErrorBody, readErrorBody } from "./ErrorBody.ts"
import { type HeaderLookup, isAccountUsedUp, isModelUsedUp, isPlanUsedUp } from "./HeaderHints.ts"

/**
 * Cause of a failed attempt without the provider's own words. The values are the stable reasons of `AttemptFailure`.
 */
export type FailureCause =
  | "refused"
  | "dns"
  | "tls"
  | "reset"
  | "connect_timeout"
  | "blocked"
  | "truncated"
  | "protocol"
  | "other"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "empty_answer"
  | "incomplete_answer"
  | "truncated_stream"
  | "not_json"
  | "bad_answer"
  | "answer_too_large"
  | "media_not_fetched"
  | "tokens_not_decoded"
  | "too_many_links"
  | "no_slot"
  | "token_refresh_failed"
  | "token_expired"
  | "login_expired"
  | "PROXY_UNAVAILABLE"
  | "PROXY_FAMILY_UNAVAILABLE"
  | "client_left"
  | "server_shutting_down"

/** The provider's own words, as the wire read them (an `UpstreamProblem`). */
export interface ProviderWords {
  readonly status: number
  readonly message: string
  readonly type: string | null
  readonly code: string | null
  /** The wait that the wire itself read in it, where it did. */
  readonly retryAfterMs?: number
}

/** Owner of the credential that was used, and the model asked for. */
export interface FailureOrigin {
  readonly providerId: string
  readonly providerClass: ProviderClass
  readonly authType: AuthType
  /** True when there is a refresh token that was not yet used up for this request. */
  readonly canRefresh: boolean
}

export interface FailureSignal extends FailureOrigin {
  /** The HTTP status of the answer; null when no answer came. */
  readonly status: number | null
  readonly header: HeaderLookup
  /** The error body as text; empty where there was none. Only its first 64 KiB are looked at. */
  readonly bodyText: string
  /** Message of the body or the error event; null for a failure without one. */
  readonly problem: ProviderWords | null
  /** Place of the message: behind an error status, in the body of a 200, in an event of a stream. */
  readonly place: "status" | "answer" | "stream"
  /** A failure of the call itself; null when the provider said what is wrong. */
  readonly cause: FailureCause | null
  /** Milliseconds until the same is worth another try, where the gateway itself knows it. */
  readonly waitMs?: number | undefined
  /** Description for people; used where the provider gave none. */
  readonly message: string
  /** Content of the answer had arrived before. */
  readonly contentBegan: boolean
  /** Texts of a ban that the operator has added (`customBannedSignals`). */
  readonly bannedTexts: ReadonlyArray<string>
  /**
   * Text that the caller sent; null where that is not known. Read only when the upstream's message is about to count.
   */
  readonly sent: CallerText | null
  /** Epoch. */
  readonly nowMs: number
}

/** Marks of facts that no single word shows. */
export type Mark =
  /** Google: a quota of a whole day is used up. */
  | "google_daily"
  /** Google: a quota of a whole day is used up, for all models of the project. */
  | "google_project_daily"
  /** Google: only a quota of a minute is used up. */
  | "google_minute"
  /** A window of a subscription is used up, by its headers. */
  | "plan_used_up"
  /** The headers name a limit of the account with nothing left. */
  | "account_used_up"
  /** The quota of this one model is used up, by its headers. */
  | "model_used_up"
  /** The words hold one of those that the operator knows to mean a ban. */
  | "operator_banned"
  /** The answer is a web page: a proxy or a bot wall spoke, not the provider's API. */
  | "web_page"
  /** `WWW-Authenticate` says that the token is no longer valid (RFC 6750). */
  | "invalid_token"

export interface Evidence {
  readonly providerId: string
  /** Class of the credential, rather than that of the provider: an API key at an OAuth provider is an API key. */
  readonly accountClass: ProviderClass
  /** An OAuth account whose token may still be refreshed. */
  readonly canRefresh: boolean
  /** Status, or the one that an error inside a 200 stands for; null when it has none. */
  readonly status: number | null
  /** Lower-case code, type and reasons of the error. */
  readonly codes: ReadonlyArray<string>
  /** Lower-case words of the provider, bounded. */
  readonly text: string
  /** One of the phrases is in the words, or in their beginning, and the caller did not write it. */
  readonly says: (phrases: ReadonlyArray<string | RegExp>, where: "anywhere" | "at_the_beginning") => boolean
  /** The caller did not write these words. */
  readonly isOwn: (words: string) => boolean
  readonly body: ErrorBody
  readonly has: (mark: Mark) => boolean
}

/** Most characters of the message that the rules look at. */
const maxTextChars = 8_192
const maxStatementChars = 400

const statusByWord: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_request: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  authentication_error: 401,
  unauthenticated: 401,
  invalid_api_key: 401,
  account_deactivated: 401,
  billing_error: 402,
  permission_error: 403,
  permission_denied: 403,
  insufficient_quota: 429,
  not_found_error: 404,
  not_found: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  too_many_requests: 429,
  usage_limit_reached: 429,
  timeout_error: 504,
  deadline_exceeded: 504,
  service_unavailable: 503,
  unavailable: 503,
  server_is_overloaded: 503,
  overloaded_error: 529,
  overloaded: 529,
  api_error: 500,
  internal_server_error: 500,
  server_error: 500,
  internal: 500
}

const isErrorStatus = (status: number): boolean => Number.isInteger(status) && status >= 400 && status <= 599

/** An error inside a 200: its numeric code, what its words stand for, or what the wire made of it; 502 there means "unknown". */
const statusInside = (codes: ReadonlyArray<string>, wireStatus: number | null): number | null => {
  for (const code of codes) {
    const numeric = /^\d{3}$/.test(code) ? Number(code) : (statusByWord[code] ?? 0)
    if (isErrorStatus(numeric)) return numeric
  }
  return wireStatus !== null && isErrorStatus(wireStatus) && wireStatus !== 502 ? wireStatus : null
}

const accountClass = ({ authType, providerClass }: FailureOrigin): ProviderClass =>
  authType === "oauth" ? "oauth" : authType === "apikey" && providerClass === "oauth" ? "apikey" : providerClass

const webPage = /^\s{0,64}<(?:!doctype|html|head|body|\?xml|center|h1)/i

/** Every place of a phrase in the text. */
const found = function* (text: string, phrase: string | RegExp): Generator<string> {
  if (typeof phrase === "string") {
    if (phrase !== "" && text.includes(phrase)) yield phrase
    return
  }
  for (const [match] of text.matchAll(new RegExp(phrase.source, `${phrase.flags}g`))) yield match
}

/** The phrase is in the text, and not only where the caller's own words are repeated. */
const saysOne = (text: string, phrase: string | RegExp, echo: Echo | null): boolean => {
  if (echo === null) return typeof phrase === "string" ? phrase !== "" && text.includes(phrase) : phrase.test(text)
  for (const words of found(text, phrase)) if (!echo.holds(words)) return true
  return false
}

/** Collects the input of the rules, without the caller's own text. Total and bounded. */
export const readEvidence = (signal: FailureSignal, echo: Echo | null): Evidence => {
  const { header, problem } = signal
  const bodyText = signal.bodyText.slice(0, 65_536)
  const body = readErrorBody(bodyText)
  const codes = [problem?.code ?? "", problem?.type ?? "", ...detailReasons(body)]
    .map((code) => code.slice(0, 256).toLowerCase())
    .filter((code) => code !== "" && echo?.isSent(code) !== true)
  const said = problem?.message ?? bodyText
  const isPage = webPage.test(bodyText)
  const words = `${said.slice(0, maxTextChars)}\n${body.raw.slice(0, maxTextChars)}`
    .slice(0, maxTextChars)
    .toLowerCase()
  // The title of a page is not the provider's word: a host that is suspended says so of itself.
  const text = isPage ? "" : (echo?.without(words) ?? words)
  const checks: Readonly<Record<Mark, () => boolean>> = {
    google_daily: () => isDailyQuota(body),
    google_project_daily: () => isProjectDailyQuota(body),
    google_minute: () => isMinuteQuota(body),
    plan_used_up: () => isPlanUsedUp(header),
    account_used_up: () => isAccountUsedUp(header),
    model_used_up: () => isModelUsedUp(header),
    operator_banned: () => {
      const opening = (echo?.without(words) ?? words).slice(0, maxStatementChars)
      return signal.bannedTexts.some((banned) => saysOne(opening, banned.toLowerCase(), echo))
    },
    web_page: () => isPage,
    invalid_token: () => /error="?invalid_token/i.test((header("www-authenticate") ?? "").slice(0, 1024))
  }
  return {
    providerId: signal.providerId,
    accountClass: accountClass(signal),
    canRefresh: signal.canRefresh && signal.authType === "oauth",
    status:
      signal.place === "status"
        ? (signal.status ?? problem?.status ?? null)
        : statusInside(codes, problem?.status ?? null),
    codes,
    text,
    says: (phrases, where) => {
      const part = where === "anywhere" ? text : text.slice(0, maxStatementChars)
      return phrases.some((phrase) => saysOne(part, phrase, echo))
    },
    isOwn: (each) => echo?.holds(each) !== true,
    body,
    has: (mark) => checks[mark]()
  }
}
