/** `gateway inspect replay --direct`: a captured request sent once more to its own server, and what differs between the two answers. */
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { DirectReplayed, DirectReplayRequest } from "../routes.ts"
import { secretly } from "../../../cli/asking/secretly.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
import * as Output from "../../../cli/output/Output.ts"
import { inspector } from "./rows.ts"
import { changeColumns } from "./show.ts"

type ReplayFlags = Parameters<typeof Client.target>[0] & {
  readonly record: string
  readonly model: Option.Option<string>
  readonly body: Option.Option<string>
  readonly path: Option.Option<string>
  readonly connection: Option.Option<string>
  readonly header: Readonly<Record<string, string>>
}

/** A header that was masked when it was recorded. */
const isMasked = ([, value]: readonly [string, string]): boolean => value.includes("***")

/** Asks for each of them; what is typed is not shown. An empty answer leaves the header out. */
const askFor = (names: ReadonlyArray<string>) =>
  secretly(
    Effect.forEach(names, (name) =>
      Effect.map(Prompt.password({ message: `${name} (empty leaves it out)` }), (value) => [name, value] as const)
    )
  )

export const replayDirect = (given: ReplayFlags) =>
  Effect.gen(function* () {
    const sent = Option.isSome(given.body) ? JSON.stringify(yield* readJson("--body", given.body.value)) : undefined
    const wanted = yield* body(
      DirectReplayRequest,
      {
        body: sent,
        model: Option.getOrUndefined(given.model),
        path: Option.getOrUndefined(given.path),
        connectionId: Option.getOrUndefined(given.connection),
        headers: given.header
      },
      { body: "--body", model: "--model", path: "--path", connectionId: "--connection", headers: "--header" }
    )
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const ask = (headers: Readonly<Record<string, Redacted.Redacted>>) =>
      client.replayDirect({ path: { id: given.record }, payload: { ...wanted, headers } })
    const known = wanted.headers ?? {}
    const answered = yield* ask(known).pipe(
      Effect.catchIf(
        (error) => "code" in error && error.code === "credential_needed",
        (error) =>
          Effect.gen(function* () {
            if (!(yield* canAsk)) return yield* Effect.fail(error)
            const { requestHeaders } = yield* client.get({ path: { id: given.record }, urlParams: {} })
            const typed = new Set(Object.keys(known).map((name) => name.toLowerCase()))
            const names = Object.entries(requestHeaders)
              .filter(isMasked)
              .flatMap(([name]) => (typed.has(name) ? [] : [name]))
            if (names.length === 0) return yield* Effect.fail(error)
            const told = yield* askFor(names)
            const more = Object.fromEntries(told.map(([name, value]) => [name, value] as const))
            return yield* ask({ ...known, ...more })
          })
      ),
      Client.orExplain(to)
    )
    const { connectionId, diff, record } = answered
    yield* Output.list({
      schema: DirectReplayed,
      value: answered,
      rows: diff.changes,
      columns: changeColumns,
      empty: "The two answers say the same."
    })
    if (diff.omitted > 0) yield* Output.remark(`${diff.omitted} more changes are not shown.`)
    const by = connectionId === null ? "" : `, with the credential of the connection ${connectionId}`
    yield* Output.note(`${record.host} answered ${record.status}${by}; it is recorded as ${record.id}.`)
  })
