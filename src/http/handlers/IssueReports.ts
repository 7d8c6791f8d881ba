/** `/v1/issues/report`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../api/GroupContract.ts"
import { IssueReports as IssueReportsGroup } from "../../api/Groups/IssueReports.ts"
import { IssueReports } from "../../management/IssueReports.ts"
import { answered } from "./Answers.ts"

export const layer = HttpApiBuilder.group(contractOf(IssueReportsGroup), "issueReports", (handlers) =>
  Effect.map(IssueReports, (reports) => handlers.handle("report", ({ payload }) => answered(reports.report(payload))))
)
