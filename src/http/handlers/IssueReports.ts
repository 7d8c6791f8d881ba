/** `/v1/issues/report`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { IssueReports } from "../../management/IssueReports.ts"
import { answered } from "./Answers.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "issueReports", (handlers) =>
  Effect.map(IssueReports, (reports) => handlers.handle("report", ({ payload }) => answered(reports.report(payload))))
)
