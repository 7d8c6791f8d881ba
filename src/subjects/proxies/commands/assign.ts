/** `gateway proxy assign`, `unassign` and `assignments`. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ProxyAssignmentView } from "../routes.ts"
import type { ProxyScope } from "../entity.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { connections } from "../../connections/commands/found.ts"
import { assignmentColumns, Assignments } from "./rows.ts"
import { proxies } from "../../../cli/finding/pickProxy.ts"
import { pickKey } from "../../../cli/finding/pickKey.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { findOne, on } from "../../../cli/verbs/noun.ts"

const of = (flag: string, description: string) =>
  Options.text(flag).pipe(Options.withDescription(description), Options.optional)

const scopeFlags = {
  all: Options.boolean("all").pipe(Options.withDescription("All calls that have none of their own.")),
  provider: of("provider", "Calls to a provider or node, by its id or prefix."),
  to: of("connection", "Calls of a connection, by its name or id."),
  apiKey: of("for-key", "Calls for an API key of this gateway, by its name or id.")
}

interface AssignFlags {
  readonly all: boolean
  readonly provider: Option.Option<string>
  readonly to: Option.Option<string>
  readonly apiKey: Option.Option<string>
}

interface Scope {
  readonly scope: ProxyScope
  readonly scopeId?: string
  readonly words: string
}

/** Finds the one scope that the flags name. */
const scopeOf = Effect.fnUntraced(function* (
  to: Client.Target,
  { all, apiKey, provider, to: connection }: AssignFlags
) {
  const named = [apiKey, connection, provider].filter(Option.isSome).length + (all ? 1 : 0)
  if (named !== 1) {
    return yield* new BadArgument({
      message: "Say once what it is for.",
      hint: "One of --all, --provider <id>, --connection <name> or --for-key <name>."
    })
  }
  if (Option.isSome(provider)) {
    return { scope: "provider", scopeId: provider.value, words: `calls to '${provider.value}'` } satisfies Scope
  }
  if (Option.isSome(connection)) {
    const { found } = yield* findOne(connections, to, connection.value)
    return { scope: "connection", scopeId: found.id, words: `calls of the connection '${found.name}'` } satisfies Scope
  }
  if (Option.isSome(apiKey)) {
    const client = yield* Client.group(to, "keys")
    const { keys } = yield* client.list().pipe(Client.orExplain(to))
    const found = yield* pickKey(keys, apiKey.value)
    return { scope: "key", scopeId: found.id, words: `calls for the API key '${found.name}'` } satisfies Scope
  }
  return { scope: "global", words: "all calls without a proxy of their own" } satisfies Scope
})

const One = Schema.Struct({ assignment: Schema.NullOr(ProxyAssignmentView) })

export const proxyAssign = on("assign", proxies, { ...scopeFlags }, function* ({ client, found, given, to }) {
  const { words, ...scope } = yield* scopeOf(to, given)
  const answer = yield* client.assign({ payload: { ...scope, proxyId: found.id } })
  yield* Output.result({
    schema: One,
    value: answer,
    text: Output.note(`From now on ${words} go through '${found.name}', or fail.`),
    name: found.name
  })
})

export const proxyUnassign = Command.make("unassign", { ...scopeFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { words, ...scope } = yield* scopeOf(to, given)
    const client = yield* Client.group(to, "proxies")
    const answer = yield* client.assign({ payload: { ...scope, proxyId: null } }).pipe(Client.orExplain(to))
    yield* Output.result({
      schema: One,
      value: answer,
      text: Output.note(`No proxy is assigned to ${words} any more.`),
      name: scope.scope
    })
  })
)

export const proxyAssignments = asking("assignments", "proxies", {}, function* (client) {
  const answer = yield* client.assignments()
  yield* Output.list({
    schema: Assignments,
    value: answer,
    rows: answer.assignments,
    columns: assignmentColumns,
    empty: "No proxy is assigned. Assign one with 'gateway proxy assign <proxy> --all'."
  })
})
