/** `/v1/issues/report`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { IssueReports as IssueReportsGroup } from "./routes.ts"
import { IssueReports } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"

export const layer = HttpApiBuilder.group(contractOf(IssueReportsGroup), "issueReports", (handlers) =>
  Effect.map(IssueReports, (reports) => handlers.handle("report", ({ payload }) => answered(reports.report(payload))))
)
