/** Flags of commands that filter requests, and the filters they stand for. */
import * as Options from "@effect/cli/Options"
import type * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { body } from "../../../../cli/flags/Flags.ts"
import { pickKey } from "../../../../cli/finding/pickKey.ts"
import * as Client from "../../../../cli/gateway/Client.ts"
import { LogsQuery } from "../../routes.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

export const filterFlags = {
  status: text("status", "A status such as 429, a class such as 5xx, or completed, failed, aborted."),
  provider: text("provider", "Requests that this provider served."),
  model: text("model", "Requests that this model served, as the provider calls it."),
  combo: text("combo", "Requests that this combo served, by its name."),
  outcome: text("outcome", "Requests that ended so: completed, failed or aborted."),
  key: text("key", "Requests of this API key: its name, its id or the beginning of it."),
  session: text("session", "Requests of this session, as the client named it."),
  tag: text("tag", "Requests that have this tag of X-Gateway-Tags, such as project=atlas."),
  error: text("error", "Requests that failed for this reason, the whole text."),
  "min-latency": text("min-latency", "Requests that took at least so many milliseconds."),
  "min-cost": text("min-cost", "Requests that cost at least so many USD."),
  "cache-hit": Options.choice("cache-hit", ["true", "false"]).pipe(
    Options.withDescription("Requests that the cache answered, or those that it did not."),
    Options.optional
  ),
  batch: text("batch", "Requests that are lines of this batch, by its id."),
  search: text("search", "Requests with this text in their ids, names, outcome, status or error.")
}
type LogFilterFlags = Command.Command.ParseConfig<typeof filterFlags>

const fields = [
  "status",
  "provider",
  "model",
  "combo",
  "outcome",
  "sessionId",
  "tag",
  "error",
  "minLatencyMs",
  "minCostUsd",
  "cacheHit",
  "search",
  "apiKeyId",
  "batchId"
] as const
export type RowFilter = Pick<LogsQuery, (typeof fields)[number]>

const flagNames = {
  status: "--status",
  provider: "--provider",
  model: "--model",
  combo: "--combo",
  outcome: "--outcome",
  sessionId: "--session",
  tag: "--tag",
  error: "--error",
  minLatencyMs: "--min-latency",
  minCostUsd: "--min-cost",
  cacheHit: "--cache-hit",
  search: "--search",
  batchId: "--batch"
}

const keyId = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "keys")
  const { keys } = yield* client.list().pipe(Client.orExplain(to))
  return (yield* pickKey(keys, word)).id
})

const Filters = Schema.Struct(LogsQuery.fields).pick(...fields)

/** The filters that were given, checked as the gateway checks them. */
export const rowFilter = Effect.fnUntraced(function* (to: Client.Target, given: LogFilterFlags) {
  const filter: RowFilter = yield* body(
    Filters,
    {
      status: Option.getOrUndefined(given.status),
      provider: Option.getOrUndefined(given.provider),
      model: Option.getOrUndefined(given.model),
      combo: Option.getOrUndefined(given.combo),
      outcome: Option.getOrUndefined(given.outcome),
      sessionId: Option.getOrUndefined(given.session),
      tag: Option.getOrUndefined(given.tag),
      error: Option.getOrUndefined(given.error),
      minLatencyMs: Option.getOrUndefined(given["min-latency"]),
      minCostUsd: Option.getOrUndefined(given["min-cost"]),
      cacheHit: Option.getOrUndefined(given["cache-hit"]),
      search: Option.getOrUndefined(given.search),
      batchId: Option.getOrUndefined(given.batch),
      apiKeyId: Option.isNone(given.key) ? undefined : yield* keyId(to, given.key.value)
    },
    flagNames
  )
  return filter
})
