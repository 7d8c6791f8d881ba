/** Reports of failed registrations and exhausted quotas to an issue tracker. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotImplementedAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { exampleConnectionId } from "../../contract/Examples.ts"
import { body, clearable, HttpUrl, optional, Secret, Text } from "../../contract/Inputs.ts"

const maxText = 16_384

export const ReportIssue = Schema.Struct({
  title: field(Text.pipe(Schema.maxLength(200)), "Title of the issue.", "Quota of openai is used up"),
  body: field(
    optional(Schema.String.pipe(Schema.maxLength(maxText))),
    "Text of the issue, in Markdown.",
    "Registering a key fails since noon."
  ),
  details: field(
    optional(Schema.String.pipe(Schema.maxLength(maxText))),
    "More text; it follows `body`.",
    "The same for all accounts."
  ),
  errorCode: field(
    optional(Text.pipe(Schema.maxLength(200))),
    "The code that was answered.",
    "PROVIDER_QUOTA_EXCEEDED"
  ),
  provider: field(optional(Text.pipe(Schema.maxLength(200))), "The provider that it concerns.", "openai"),
  accountId: field(optional(Text.pipe(Schema.maxLength(200))), "The connection that it concerns.", exampleConnectionId),
  labels: field(
    optional(Schema.Array(Text.pipe(Schema.maxLength(50))).pipe(Schema.maxItems(10))),
    "Labels of the issue.",
    ["quota"]
  )
}).annotations(body("ReportIssue"))
export type ReportIssue = typeof ReportIssue.Type

const Reported = Schema.Struct({
  reported: field(Schema.Literal(true), "Always true."),
  url: field(
    Schema.NullOr(Schema.String),
    "Where the issue can be read; null where the tracker did not say.",
    "https://github.com/octo/gateway-issues/issues/42"
  ),
  number: field(Schema.NullOr(Schema.Number), "Its number; null where the tracker did not say.", 42)
}).annotations({ identifier: "ReportedIssue" })

const settingWords = {
  repository: ["Repository that issues are opened in, `owner/name`; null: none.", "octo/gateway-issues"],
  token: "Token that may write issues there; shown masked, and as it is shown it stays as it is. Null: none.",
  apiUrl: [
    "Address of the tracker's API, for GitHub Enterprise such as `https://github.example.com/api/v3`; another host needs the token again.",
    "https://api.github.com"
  ]
} as const

/** An owner and a name as GitHub has them; neither is a step of a path. */
const Repository = Schema.Trim.pipe(
  Schema.maxLength(140),
  Schema.filter((text) => (/^[A-Za-z\d][A-Za-z\d_-]*\/(?!\.{1,2}$)[\w.-]+$/.test(text) ? true : "must be 'owner/name'"))
)

/** The setting `issues` of `/api/settings`. */
export const IssueSettings = Schema.Struct({
  repository: field(Schema.NullOr(Schema.String), ...settingWords.repository),
  token: field(Schema.NullOr(Schema.String), settingWords.token, "ghp_…wxyz"),
  apiUrl: field(Schema.String, ...settingWords.apiUrl)
})

export const issueSettings = {
  issues: field(
    optional(
      Schema.Struct({
        repository: field(clearable(Repository), ...settingWords.repository),
        token: field(clearable(Secret), settingWords.token),
        apiUrl: field(clearable(HttpUrl), ...settingWords.apiUrl)
      })
    ),
    "The tracker that issues are reported to (`POST /v1/issues/report`)."
  )
}

const at = endpointsOf("issueReports")

export class IssueReports extends HttpApiGroup.make("issueReports")
  .annotate(OpenApi.Title, "Issue reports")
  .annotate(OpenApi.Description, "Reports to the issue tracker of the settings `issues`.")
  .add(
    at("report", {
      summary: "Report an issue",
      description:
        "Opens an issue in the repository of the setting `issues.repository`. Credentials that the gateway knows, and texts that look like keys, are removed first. 501 while `issues.repository` and `issues.token` are not set.",
      example: { title: "Quota of openai is used up", errorCode: "PROVIDER_QUOTA_EXCEEDED", provider: "openai" }
    })
      .setPayload(ReportIssue)
      .addSuccess(Reported)
      .addError(NotImplementedAnswer)
      .addError(UpstreamFailedAnswer)
  ) {}
