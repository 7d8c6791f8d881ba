/** `gateway route decision`: why a request went where it went. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Client from "../../gateway/Client.ts"
import { attemptColumns, candidateRows, headline, OneDecision, showCandidates } from "../../output/decision.ts"
import * as Output from "../../output/Output.ts"
import { fields } from "../../output/Table.ts"

const requestId = Args.text({ name: "request id" }).pipe(
  Args.withDescription("What the answer's X-Gateway-Request-Id said; 'gateway logs' shows it, too.")
)

export const routeDecision = Command.make("decision", { requestId, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "routing")
    const answer = yield* client.decision({ path: { requestId: given.requestId } }).pipe(Client.orExplain(to))
    const { decision } = answer
    const text = Effect.gen(function* () {
      yield* Output.print(fields([["Request", decision.requestId], ...headline(decision)]))
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
