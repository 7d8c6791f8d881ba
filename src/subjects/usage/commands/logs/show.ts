/** `gateway logs show`: one request with its decision, its attempts, its tokens and its cost. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DecisionView } from "../../../routing/routes.ts"
import { UsageLog } from "../../routes.ts"
import * as Client from "../../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../../cli/Failure.ts"
import { attemptColumns, headline, showCandidates } from "../../../../cli/output/decision.ts"
import * as Output from "../../../../cli/output/Output.ts"
import { fields } from "../../../../cli/output/Table.ts"
import { story } from "./rows.ts"

const Story = Schema.Struct({
  request: UsageLog,
  connection: Schema.NullOr(Schema.String),
  key: Schema.NullOr(Schema.String),
  decision: Schema.NullOr(DecisionView)
})

const mostCompared = 5

/** Checks whether the caller may look for texts: who sees a part of the log finds its requests by their ids. */
const maySearch = Effect.fnUntraced(function* (to: Client.Target) {
  const client = yield* Client.group(to, "auth")
  const { rights } = yield* client.me().pipe(Client.orExplain(to))
  return rights.readRequests === "all"
})

/** The request whose id begins so. Ids that a client gave are found by their text. */
export const findRequest = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "usage")
  const ask = (filter: { readonly requestId: string } | { readonly search: string }) =>
    Effect.map(
      client.logs({ urlParams: { ...filter, limit: mostCompared } }).pipe(Client.orExplain(to)),
      ({ logs }) => logs
    )
  const byId = yield* ask({ requestId: word.slice(0, 300) })
  const searched = byId.length > 0 || !(yield* maySearch(to)) ? [] : yield* ask({ search: word.slice(0, 200) })
  const found = [...byId, ...searched.filter(({ requestId }) => requestId.startsWith(word))]
  const [only] = found
  if (only === undefined) {
    return yield* new BadArgument({
      message: `There is no request '${word}' in the log.`,
      hint: "'gateway logs' shows the ids of requests; so does the header X-Gateway-Request-Id of each answer."
    })
  }
  if (found.length > 1) {
    return yield* new BadArgument({
      message: `Several requests begin with '${word}': ${found.map(({ requestId }) => requestId).join(", ")}.`,
      hint: "Give more of the id."
    })
  }
  return only
})

/** Returns null for a failing call: the other parts are still worth reading. */
const orNull = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A | null, never, R> =>
  Effect.catchAll(call, () => Effect.succeed(null))

export const showRequest = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const request = yield* findRequest(to, word)
  const { apiKeyId, connectionId } = request
  const connection =
    connectionId === null
      ? null
      : yield* orNull(
          Effect.flatMap(Client.group(to, "providers"), (client) => client.get({ path: { id: connectionId } }))
        )
  const key =
    apiKeyId === null
      ? null
      : yield* orNull(Effect.flatMap(Client.group(to, "keys"), (client) => client.get({ path: { id: apiKeyId } })))
  const decided = yield* orNull(
    Effect.flatMap(Client.group(to, "routing"), (client) => client.decision({ path: { requestId: request.requestId } }))
  )
  const names = { connection: connection?.connection.name ?? null, key: key?.key.name ?? null }
  const decision = decided?.decision ?? null
  const text = Effect.gen(function* () {
    yield* Output.print(story(request, names))
    yield* Output.print("")
    if (decision === null) return yield* Output.remark("Its decision is not kept any more.")
    yield* Output.print(fields(headline(decision)))
    yield* Output.print("")
    yield* showCandidates(decision, "There were no candidates.")
    yield* Output.section(decision.attempts, attemptColumns)
  })
  yield* Output.result({ schema: Story, value: { request, ...names, decision }, text, name: request.requestId })
})
