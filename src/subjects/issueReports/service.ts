/**
 * Reports of failures to an issue tracker that speaks GitHub's API (https://docs.github.com/en/rest/issues/issues#create-an-issue, 2026-11). What
 * leaves is cleaned of credentials, and goes to the address in the settings only.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { ReportIssue } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { blockMessage } from "../../net/egress/OutboundPolicy.ts"
import { type Fetched, PublicFetch, type SendError } from "../../net/egress/PublicFetch.ts"
import { withoutKeys } from "../../kernel/secrets/KeyShapes.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { scrubber } from "../../kernel/secrets/Scrub.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Catalog, secretsOf } from "../../plane/providers/Catalog.ts"
import { parse } from "../../plane/providers/UpstreamAnswer.ts"
import type { StoreError } from "../../store/Errors.ts"
import { defaultApiUrl, type IssueTracker, IssueTrackerRepo } from "./repo.ts"
import { type InvalidInput, invalid, NotConfigured, refuseOne, RemoteFailed } from "../Errors.ts"

/** Absent: as it is; null: none, or the default. */
export interface IssueTrackerChange {
  readonly repository?: string | null | undefined
  readonly apiUrl?: string | null | undefined
  readonly token?: Redacted.Redacted | null | undefined
}

export interface ReportedIssue {
  readonly reported: true
  readonly url: string | null
  readonly number: number | null
}

/** The tracker did not take a report. `reason` says what can be done, and holds no secret. */
const notReported = (reason: string): RemoteFailed =>
  new RemoteFailed({ code: "issue_not_reported", message: `The issue was not reported: ${reason}` })

export class IssueReports extends Context.Tag("gateway/subjects/issueReports/IssueReports")<
  IssueReports,
  {
    readonly tracker: Effect.Effect<IssueTracker, StoreError>
    /** Checks a change and gives what saves it, so that it can be saved together with others. */
    readonly prepare: (
      change: IssueTrackerChange
    ) => Effect.Effect<Effect.Effect<void, StoreError>, InvalidInput | StoreError>
    readonly report: (issue: ReportIssue) => Effect.Effect<ReportedIssue, NotConfigured | RemoteFailed | StoreError>
  }
>() {}

const limits = { timeoutMs: 10_000, maxBytes: 1_048_576 }
/** Most characters of the tracker's message about a refusal. */
const maxWords = 300

const withoutSlash = (url: string): string => url.replace(/\/+$/, "")

/**
 * Applies the changes that are not so already. A token that equals the mask of the stored one was read and sent back.
 */
export const changed = (kept: IssueTracker, { apiUrl, repository, token }: IssueTrackerChange): IssueTracker => {
  const isMask =
    token != null && kept.token !== null && Redacted.value(token) === maskSecret(Redacted.value(kept.token))
  return {
    repository: repository === undefined ? kept.repository : repository,
    apiUrl: apiUrl === undefined ? kept.apiUrl : withoutSlash(apiUrl ?? defaultApiUrl),
    token: token === undefined || isMask ? kept.token : token
  }
}

/** A stored token stays with the host it was given for. A new one goes into a header, and is no mask of an older one. */
export const tokenProblem = (kept: IssueTracker, next: IssueTracker): FieldProblem | null => {
  if (next.token === null) return null
  if (next.token !== kept.token) {
    return /^[\x21-\x7e]+$/.test(Redacted.value(next.token))
      ? null
      : { field: "issues.token", message: "must be a token: printable ASCII characters without blanks" }
  }
  return new URL(next.apiUrl).origin === new URL(kept.apiUrl).origin
    ? null
    : { field: "issues.token", message: "is needed again with another issues.apiUrl: a token stays with its host" }
}

/** The text of the issue, in Markdown. */
const textOf = ({ accountId, body, details, errorCode, provider }: ReportIssue): string => {
  const facts = [
    ["errorCode", errorCode],
    ["provider", provider],
    ["accountId", accountId]
  ].flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]))
  return [body, details, facts.join("\n")].filter((part) => part !== undefined && part.trim() !== "").join("\n\n")
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Remedies for a refusal. */
const remedies: Readonly<Record<number, string>> = {
  401: "issues.token is not valid (any more). Set another one.",
  403: "issues.token may not open issues there, or is used too often. It needs write access to issues.",
  404: "issues.repository was not found, or issues.token may not see it.",
  410: "Issues are switched off in issues.repository.",
  422: "The tracker does not take the issue as it is.",
  429: "The tracker is asked too often. Report again later."
}

const unreachable = (error: SendError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return `issues.apiUrl may not be called: ${blockMessage[error.reason]}`
    case "TransportFailure":
      return `The tracker cannot be reached: ${error.message} Check issues.apiUrl.`
    case "ResponseTooLarge":
      return "The tracker's answer is too large. Check issues.apiUrl."
    case "TimedOut":
      return `The tracker did not answer within ${error.timeoutMs / 1_000} s. Report again later.`
  }
}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const { adminKey } = yield* AppConfig
  const net = yield* PublicFetch
  const repo = yield* IssueTrackerRepo

  /** Every credential that the gateway has in clear text. */
  const secrets = (token: Redacted.Redacted): ReadonlyArray<string> => {
    const { connections, provider } = catalog.current()
    return [
      Redacted.value(token),
      ...(adminKey === null ? [] : [Redacted.value(adminKey)]),
      ...connections.flatMap((connection) => secretsOf(connection, provider(connection.provider)))
    ]
  }

  const prepare = Effect.fn("IssueReports.prepare")(function* (change: IssueTrackerChange) {
    const kept = yield* repo.get
    const next = changed(kept, change)
    yield* refuseOne(tokenProblem(kept, next))
    const blocked = next.apiUrl === kept.apiUrl ? null : yield* net.check(next.apiUrl)
    if (blocked !== null) return yield* invalid("issues.apiUrl", `may not be called: ${blockMessage[blocked]}`)
    return repo.set(next)
  })

  const refusal = ({ body, status }: Fetched, clean: (text: string) => string): RemoteFailed => {
    const answer = parse(body)
    const words = isRecord(answer) && typeof answer["message"] === "string" ? answer["message"] : ""
    const said = words === "" ? "" : ` It said: ${clean(words.slice(0, maxWords))}`
    const remedy = remedies[status] ?? (status >= 500 ? "Report again later." : "Check issues.apiUrl.")
    return notReported(`The tracker answered ${status}. ${remedy}${said}`)
  }

  const report = Effect.fn("IssueReports.report")(function* (issue: ReportIssue) {
    const { apiUrl, repository, token } = yield* repo.get
    if (repository === null || token === null) {
      const missing = [
        ...(repository === null ? ["issues.repository"] : []),
        ...(token === null ? ["issues.token"] : [])
      ]
      return yield* new NotConfigured({
        code: "issues_not_configured",
        message: `Reports need the settings issues.repository and issues.token (PATCH /api/settings); missing: ${missing.join(", ")}.`
      })
    }
    const known = scrubber(secrets(token))
    const clean = (text: string): string => withoutKeys(known(text))
    const answer = yield* net
      .send(
        `${apiUrl}/repos/${repository}/issues`,
        {
          headers: Object.entries({
            authorization: `Bearer ${Redacted.value(token)}`,
            accept: "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
            "content-type": "application/json"
          }).flat(),
          body: JSON.stringify({
            title: clean(issue.title),
            body: clean(textOf(issue)),
            ...(issue.labels === undefined ? {} : { labels: issue.labels.map(clean) })
          })
        },
        limits
      )
      .pipe(Effect.mapError((error) => notReported(unreachable(error))))
    if (answer.status < 200 || answer.status > 299) return yield* refusal(answer, clean)
    const made = parse(answer.body)
    const url = isRecord(made) ? made["html_url"] : null
    const number = isRecord(made) ? made["number"] : null
    return {
      reported: true,
      url: typeof url === "string" ? url.slice(0, 2_048) : null,
      number: typeof number === "number" ? number : null
    } as const
  })

  return IssueReports.of({ tracker: repo.get, prepare, report })
})

export const layer: Layer.Layer<IssueReports, never, AppConfig | Catalog | IssueTrackerRepo | PublicFetch> =
  Layer.effect(IssueReports, make)
