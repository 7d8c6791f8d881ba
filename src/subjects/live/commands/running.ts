/** `gateway requests running`: the requests under way. */
import { Running, type RunningView } from "../routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const columns: ReadonlyArray<Column.Column<RunningView>> = [
  Column.name("REQUEST", ({ requestId }) => requestId),
  Column.time("SINCE", ({ startedAt }) => startedAt),
  Column.text("STATE", ({ state }) => state),
  Column.text("MODEL", ({ requestedModel }) => requestedModel),
  Column.text("TARGET", ({ target }) => target ?? "-"),
  Column.number("TOKENS", ({ tokensOut }) => tokensOut, Column.thousands),
  Column.id("API KEY", ({ apiKeyId }) => apiKeyId ?? "-")
]

export const requestsRunning = asking("running", "live", {}, function* (client) {
  const answer = yield* client.running()
  yield* Output.list({
    schema: Running,
    value: answer,
    rows: answer.requests,
    columns,
    empty: "No request is under way."
  })
  const leftOut = answer.count - answer.requests.length
  if (leftOut > 0) yield* Output.remark(`${Column.thousands(leftOut)} more are under way.`)
})
