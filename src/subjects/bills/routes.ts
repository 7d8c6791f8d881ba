/** Bills of a month. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { body, optional, TimeZone } from "../../contract/Inputs.ts"
import { type ReportDimension, reportDimensions } from "./entity.ts"

const strict = { parseOptions: { onExcessProperty: "error", errors: "all" } } as const

export const Month = Schema.String.pipe(
  Schema.pattern(/^20\d\d-(?:0[1-9]|1[0-2])$/, { message: () => "must be a month such as 2035-01" })
)

const isDimension = (name: string): name is ReportDimension => reportDimensions.some((each) => each === name)

/** Dimensions with commas between them. */
export const By = Schema.String.pipe(
  Schema.filter((text) => {
    const given = text.split(",")
    return (
      (given.every(isDimension) && new Set(given).size === given.length) ||
      `must be some of ${reportDimensions.join(", ")}, each once, with commas between them`
    )
  })
)

export const dimensionsIn = (text: string | undefined): ReadonlyArray<ReportDimension> =>
  text === undefined ? ["person", "team"] : text.split(",").filter(isDimension)

const month = field(Month, "The month.", "2035-01")
const timezoneWords = [
  "The time zone of the month, a name of the IANA database; absent: UTC.",
  "Europe/Zurich"
] as const

export const BillQuery = Schema.Struct({
  month,
  timezone: field(Schema.optionalWith(TimeZone, { exact: true }), ...timezoneWords),
  by: field(
    Schema.optionalWith(By, { exact: true }),
    `What to sum up by, with commas between: ${reportDimensions.join(", ")}; absent: person,team.`,
    "person,model"
  ),
  rollUp: field(
    Schema.optionalWith(Schema.Literal("true", "false"), { exact: true }),
    "Whether rows of a team have what the teams below it cost, too; absent: not.",
    "false"
  )
}).annotations(strict)
export type BillQuery = typeof BillQuery.Type

export const CloseBill = Schema.Struct({ month, timezone: field(optional(TimeZone), ...timezoneWords) }).annotations(
  body("CloseBill")
)

const sums = {
  requests: field(Schema.Number, "Requests, also failed and aborted ones.", 1_200),
  unpriced: field(Schema.Number, "Requests of a model without a known price; they count as 0 USD.", 0),
  tokensIn: field(Schema.Number, "Tokens of prompts, the cached ones included.", 1_500_000),
  tokensOut: field(Schema.Number, "Tokens of answers, reasoning included.", 420_000),
  costUsd: field(Schema.Number, "What they cost, in USD.", 4.21),
  billedUsd: field(
    Schema.Number,
    "What is billed for them, in USD: the cost times the team's `rate`, the present one or that at the closing.",
    4.8415
  )
}

const dimension = (what: string, example: string | null) =>
  field(Schema.NullOr(Schema.String), `${what}; null: none, or it was not asked for.`, example)

const rowFields = {
  person: dimension("Id of the person whose key it was when the requests came", exampleId),
  personName: dimension("Name of the person", "Ada"),
  team: dimension("Id of the team whose key it was when the requests came", exampleId),
  teamName: dimension("Name of the team", "Research"),
  key: dimension("Id of the API key", exampleKeyId),
  keyName: dimension("Name of the API key", "laptop"),
  provider: dimension("The provider", "openai"),
  model: dimension("The model", "gpt-4o-mini"),
  tag: dimension("A tag that clients gave in `X-Gateway-Tags`", null),
  ...sums
}

export const BillRow = Schema.Struct(rowFields).annotations({ identifier: "BillRow" })
export type BillRow = typeof BillRow.Type

const BillTotal = Schema.Struct(sums).annotations({ identifier: "BillTotal" })

export const BillView = Schema.Struct({
  month: field(Schema.String, "The month.", "2035-01"),
  timezone: field(Schema.String, "Its time zone.", "Europe/Zurich"),
  from: field(Schema.String, "Where it begins, ISO 8601.", exampleTime),
  to: field(Schema.String, "Where it ends, ISO 8601.", "2035-02-01T00:00:00.000Z"),
  closedAt: field(Schema.NullOr(Schema.String), "When it was closed, ISO 8601; null: it is open.", null),
  checksum: field(
    Schema.NullOr(Schema.String),
    "SHA-256 of the closed report, as it is stored; null: it is open.",
    "9f2c4b7d81e05a63"
  ),
  intact: field(Schema.Boolean, "Whether a closed report still has its checksum.", true),
  by: field(Schema.Array(Schema.Literal(...reportDimensions)), "What it is summed up by.", ["person", "team"]),
  rows: field(Schema.Array(BillRow), "Those that cost the most first."),
  total: field(BillTotal, "All requests of the month."),
  corrections: field(
    Schema.Array(
      Schema.Struct({ month: field(Schema.String, "The month they belong to.", "2034-12"), ...rowFields }).annotations({
        identifier: "BillCorrection"
      })
    ),
    "Requests of months that were closed before they were written; they are not in `rows`.",
    []
  ),
  correctionsTotal: field(BillTotal, "All of them."),
  inexact: field(Schema.Array(Schema.String), "What is not exact, in sentences.", [])
}).annotations({ identifier: "Bill" })
export type BillView = typeof BillView.Type

export const ClosedBills = Schema.Struct({
  bills: field(
    Schema.Array(
      Schema.Struct({
        month: field(Schema.String, "The month.", "2035-01"),
        timezone: field(Schema.String, "Its time zone.", "UTC"),
        closedAt: field(Schema.String, "When it was closed, ISO 8601.", exampleTime),
        checksum: field(Schema.String, "SHA-256 of the report, as it is stored.", "9f2c4b7d81e05a63"),
        intact: field(Schema.Boolean, "Whether the report still has its checksum.", true),
        costUsd: field(Schema.Number, "What the requests of the month cost, in USD.", 4.21),
        correctionsUsd: field(Schema.Number, "What the corrections of earlier months cost, in USD.", 0)
      }).annotations({ identifier: "ClosedBill" })
    ),
    "Oldest first."
  )
}).annotations({ identifier: "ClosedBillList" })

const at = endpointsOf("bills")

export class Bills extends HttpApiGroup.make("bills")
  .annotate(OpenApi.Title, "Bills")
  .annotate(OpenApi.Description, "What a month cost, by person, team, key, model and provider.")
  .add(
    at("show", {
      summary: "Show the bill of a month",
      description:
        "Counts requests for those whose key it was when they came. Of an open month from the sums as they are now, of a closed one as it was closed. Who may see a part sees the rows of it."
    })
      .setUrlParams(BillQuery)
      .addSuccess(BillView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("csv", {
      summary: "Load the bill of a month as a file",
      description: "The same rows as `text/csv`, with those of the corrections, whose month is an earlier one."
    })
      .setUrlParams(BillQuery)
      .addSuccess(
        HttpApiSchema.Text({ contentType: "text/csv" }).annotations({
          description: "The rows; the first line names the columns.",
          examples: ["month,person,personName\r\n"]
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("closed", { summary: "List the bills that were closed", description: "With their checksums." }).addSuccess(
      ClosedBills
    )
  )
  .add(
    at("close", {
      summary: "Close a month",
      description:
        "Freezes the bill of a month that is over. What is written later of it is a correction on the next month that is closed in the same time zone.",
      example: { month: "2025-01" }
    })
      .setPayload(CloseBill)
      .addSuccess(BillView)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  ) {}
