/** `gateway memory list`, `search`, `show` and `preview`. */
import * as Args from "@effect/cli/Args"
import * as Option from "effect/Option"
import { MemoryList, MemoryPreview, type MemoryView, OneMemory } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { apiKey, columns, memories, ownerOf, type } from "./rows.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { on } from "../../../cli/verbs/noun.ts"

const listed = (value: typeof MemoryList.Type, empty: string) =>
  Output.list({ schema: MemoryList, value, rows: value.memories, columns, empty })

const filters = { type, key: apiKey, ...Client.connection }

export const memoryList = asking("list", "memory", filters, function* (client, given, to) {
  const apiKeyId = yield* ownerOf(to, given.key)
  const urlParams = {
    ...(apiKeyId === undefined ? {} : { apiKeyId }),
    ...Option.match(given.type, { onNone: () => ({}), onSome: (each) => ({ type: each }) })
  }
  const answer = yield* client.list({ urlParams })
  yield* listed(answer, "Nothing is remembered. Add something with 'gateway memory add <content>'.")
})

const words = Args.text({ name: "words" }).pipe(
  Args.withDescription("What to look for: memories that have one of the words, the best match first."),
  Args.atLeast(1)
)

export const memorySearch = asking("search", "memory", { words, ...filters }, function* (client, given, to) {
  const apiKeyId = yield* ownerOf(to, given.key)
  const urlParams = {
    q: given.words.join(" "),
    ...(apiKeyId === undefined ? {} : { apiKeyId }),
    ...Option.match(given.type, { onNone: () => ({}), onSome: (each) => ({ type: each }) })
  }
  const answer = yield* client.list({ urlParams })
  yield* listed(answer, "No memory has one of these words.")
})

const page = (shown: MemoryView) =>
  fields([
    ["Key", shown.key],
    ["Type", shown.type],
    ["Content", shown.content],
    ["Source", shown.source],
    ["API key", shown.apiKeyId ?? "none"],
    ["Session", shown.sessionId ?? "-"],
    ["Created", Output.shortTime(shown.createdAt)],
    ["Changed", Output.shortTime(shown.updatedAt)],
    ["Used", Output.shortTime(shown.lastUsedAt)],
    ["Id", shown.id]
  ])

export const memoryShow = on("show", memories, {}, function* ({ client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const text = Output.print(page(answer.memory))
  yield* Output.result({ schema: OneMemory, value: answer, text, name: found.id, version: latestVersion(to) })
})

const question = Args.text({ name: "question" }).pipe(
  Args.withDescription("What a user would say."),
  Args.atLeast(1),
  Args.map((said) => said.join(" "))
)

export const memoryPreview = asking("preview", "memory", { question, key: apiKey }, function* (client, given, to) {
  const apiKeyId = yield* ownerOf(to, given.key)
  const owner = apiKeyId === undefined || apiKeyId === "none" ? {} : { apiKeyId }
  const answer = yield* client.preview({ payload: { query: given.question, ...owner } })
  const text = answer.block === null ? Output.note("Nothing would be told.") : Output.print(answer.block)
  yield* Output.result({ schema: MemoryPreview, value: answer, text, name: "" })
})
