/** `gateway route decision`: why a request went where it went. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../../cli/gateway/Client.ts"
import { attemptColumns, candidateRows, headline, OneDecision, showCandidates } from "../../../cli/output/decision.ts"
import { findRequest } from "../../usage/commands/logs/show.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"

const requestId = Args.text({ name: "request id" }).pipe(
  Args.withDescription(
    "What the answer's X-Gateway-Request-Id said, or the beginning of it, as 'gateway logs' shows it."
  )
)

export const routeDecision = Command.make("decision", { requestId, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "routing")
    const decisionOf = (requestId: string) => client.decision({ path: { requestId } })
    const word = given.requestId.replace(/(?:…|\.\.\.)$/, "")
    const answer = yield* decisionOf(word).pipe(
      // Lists show the beginnings of ids.
      Effect.catchTag("NotFound", (missing) =>
        findRequest(to, word).pipe(
          Effect.mapError(() => missing),
          Effect.flatMap(({ requestId }) => (requestId === word ? Effect.fail(missing) : decisionOf(requestId)))
        )
      ),
      Client.orExplain(to)
    )
    const { decision } = answer
    const text = Effect.gen(function* () {
      const state: ReadonlyArray<readonly [string, string]> =
        decision.state === "running" ? [["State", "under way"]] : []
      yield* Output.print(fields([["Request", decision.requestId], ...state, ...headline(decision)]))
      yield* Output.print("")
      yield* showCandidates(decision, "There were no candidates.")
      yield* Output.print("")
      yield* Output.rows(decision.attempts, attemptColumns, "No target was called.")
    })
    yield* Output.result({
      schema: OneDecision,
      value: answer,
      text,
      csv: candidateRows(decision),
      name: decision.chosen ?? ""
    })
  })
)
