/** Memories as tables, and how one and its owner are found. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { memoryTypes } from "../entity.ts"
import type { MemoryView } from "../routes.ts"
import type * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { findKey } from "../../limits/commands/budgets.ts"
import { noun } from "../../../cli/verbs/noun.ts"

export const columns: ReadonlyArray<Column.Column<MemoryView>> = [
  Column.name("KEY", ({ key }) => key),
  Column.text("TYPE", ({ type }) => type),
  Column.prose("CONTENT", ({ content }) => content),
  Column.text("SOURCE", ({ source }) => source, { in: "wide" }),
  Column.text("API KEY", ({ apiKeyId }) => apiKeyId ?? "none", { in: "wide" }),
  Column.text("SESSION", ({ sessionId }) => sessionId ?? "-", { in: "wide" }),
  Column.time("USED", ({ lastUsedAt }) => lastUsedAt),
  Column.id("ID", ({ id }) => id)
]

export const memory = Args.text({ name: "memory" }).pipe(
  Args.withDescription("Its key, its id or the beginning of it.")
)

export const type = Options.choice("type", memoryTypes).pipe(
  Options.withDescription("A fact, an event, a way of doing things, or knowledge."),
  Options.optional
)

export const apiKey = Options.text("key").pipe(
  Options.withDescription(
    "The API key whose memory it is: its name, its id or the beginning of it; 'none' for callers without one."
  ),
  Options.optional
)

/** The id of the key that a flag names; `none` stays, undefined without the flag. */
export const ownerOf = Effect.fnUntraced(function* (to: Client.Target, given: Option.Option<string>) {
  if (Option.isNone(given)) return undefined
  return given.value === "none" ? "none" : (yield* findKey(to, given.value)).id
})

export const memories = noun({
  what: "memory",
  group: "memory",
  argument: memory,
  listing: "gateway memory list",
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.memory),
  list: (client) => client.list({ urlParams: {} }),
  rows: (answer) => answer.memories,
  nameOf: ({ key }) => key
})
