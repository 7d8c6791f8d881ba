/** `/api/bills`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { ownedBy } from "../people/Bounds.ts"
import { billView, closedView, csvOf } from "./BillViews.ts"
import { billDimensions } from "./entity.ts"
import { type BillQuery, Bills as BillsGroup, dimensionsIn } from "./routes.ts"
import { Bills } from "./service.ts"

export const layer = HttpApiBuilder.group(contractOf(BillsGroup), "bills", (handlers) =>
  Effect.gen(function* () {
    const bills = yield* Bills
    const callerBounds = yield* makeCallerBounds
    const shown = Effect.fnUntraced(function* ({ by, month, rollUp, timezone = "UTC" }: BillQuery) {
      const owner = ownedBy(yield* callerBounds)
      const query = { month, timeZone: timezone }
      const dimensions = dimensionsIn(by)
      const tagged = dimensions.includes("tag") ? yield* bills.byTag(query) : null
      const teamsAbove = rollUp === "true" ? bills.teamsAbove() : null
      return billView(yield* bills.bill(query), dimensions, owner, { tagged, teamsAbove })
    })
    return handlers
      .handle("show", ({ urlParams }) => answered(shown(urlParams)))
      .handle("csv", ({ urlParams }) =>
        answered(
          Effect.map(shown(urlParams), (view) =>
            HttpServerResponse.text(csvOf(view), {
              contentType: "text/csv; charset=utf-8",
              headers: { "Content-Disposition": `attachment; filename="bill-${view.month}.csv"` }
            })
          )
        )
      )
      .handle("closed", () => answered(Effect.map(bills.closed, closedView)))
      .handle("close", ({ payload: { month, timezone } }) =>
        answered(
          Effect.map(bills.close({ month, timeZone: timezone ?? "UTC" }), (bill) =>
            billView(bill, billDimensions, null)
          )
        )
      )
  })
)
