/** `gateway memory add`, `edit`, `remove` and `reindex`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CreateMemory, MemoryHealth, OneMemory, UpdateMemory } from "../routes.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import { ifMatch } from "../../../cli/gateway/Versions.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { apiKey, memories, memory, ownerOf, type } from "./rows.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { findOne, removeOf } from "../../../cli/verbs/noun.ts"

const content = Args.text({ name: "content" }).pipe(
  Args.withDescription("What is to be remembered."),
  Args.atLeast(1),
  Args.map((words) => words.join(" "))
)
const name = Options.text("name").pipe(
  Options.withDescription("Its key: another memory of the type with the same key is replaced."),
  Options.optional
)
const session = Options.text("session").pipe(Options.withDescription("The session that it is about."), Options.optional)

const flagNames = { content: "<content>", key: "--name", type: "--type", sessionId: "--session", apiKeyId: "--key" }

const settings = { type, name, session, ...Client.connection }

export const memoryAdd = Command.make("add", { content, key: apiKey, ...settings }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const owner = yield* ownerOf(to, given.key)
    const input = {
      content: given.content,
      apiKeyId: owner === "none" ? undefined : owner,
      type: Option.getOrUndefined(given.type),
      key: Option.getOrUndefined(given.name),
      sessionId: Option.getOrUndefined(given.session)
    }
    const payload = yield* body(CreateMemory, input, flagNames)
    const client = yield* Client.group(to, "memory")
    const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
    const { id, key } = answer.memory
    yield* Output.result({ schema: OneMemory, value: answer, text: Output.note(`'${key}' is remembered.`), name: id })
  })
)

const otherContent = Options.text("content").pipe(
  Options.withDescription("What is to be remembered."),
  Options.optional
)

export const memoryEdit = Command.make("edit", { memory, content: otherContent, ...settings, ifMatch }, (given) =>
  Effect.gen(function* () {
    const input = {
      content: Option.getOrUndefined(given.content),
      type: Option.getOrUndefined(given.type),
      key: Option.getOrUndefined(given.name),
      sessionId: Option.getOrUndefined(given.session)
    }
    const payload = yield* changes(
      UpdateMemory,
      input,
      { ...flagNames, content: "--content" },
      "memory edit preference:editor --content 'I use Helix.'"
    )
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(memories, to, given.memory)
    const answer = yield* client.patch({ path: { id: found.id }, payload })
    const text = Output.note(`'${answer.memory.key}' is changed.`)
    yield* Output.result({ schema: OneMemory, value: answer, text, name: found.id })
  })
)

export const memoryRemove = removeOf(memories, {
  ask: (client, id) => client.remove({ path: { id } }),
  record: ({ key }) => ({ key }),
  sentence: ({ key }) => `'${key}' is forgotten.`,
  shown: ({ id }) => id
})

const rebuild = Options.boolean("reindex").pipe(
  Options.withDescription("Make the index of the memory anew first."),
  Options.withDefault(false)
)

export const memoryHealth = asking("health", "memory", { reindex: rebuild }, function* (client, given) {
  if (given.reindex) yield* client.reindex()
  const answer = yield* client.health()
  const text = Output.print(
    fields([
      ["Enabled", Output.yesNo(answer.enabled)],
      ["Well", Output.yesNo(answer.ok)],
      ["Memories", String(answer.entries)],
      ["In the index", String(answer.indexed)],
      ["Bytes", String(answer.bytes)],
      ["Searched by", answer.engine]
    ])
  )
  yield* Output.result({ schema: MemoryHealth, value: answer, text, name: "" })
})
