/** `gateway context …` and `gateway logout`: the logins that are kept, and which of them commands use. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { maskSecret } from "../../kernel/text/Masking.ts"
import * as Contexts from "../gateway/Contexts.ts"
import { revokeKey } from "../gateway/login.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument } from "../Failure.ts"
import * as Output from "../output/Output.ts"
import * as Column from "../output/Column.ts"
import { fields } from "../output/Table.ts"

const One = Schema.Struct({
  name: Schema.String,
  url: Schema.String,
  current: Schema.Boolean,
  /** Masked. */
  key: Schema.String
})
type One = typeof One.Type
const All = Schema.Struct({ contexts: Schema.Array(One) })

const columns: ReadonlyArray<Column.Column<One>> = [
  Column.name("NAME", (context) => context.name),
  { header: "ADDRESS", value: ({ url }) => url, fit: "keep" },
  { header: "IN USE", value: ({ current }) => Output.yesNo(current) },
  { header: "KEY", value: ({ key }) => key }
]

const opened = Effect.gen(function* () {
  const file = Contexts.contextFile((yield* loadConfig).environment)
  return { file, all: yield* Contexts.read(file) }
})

const viewOf =
  (all: Contexts.Contexts) =>
  ([name, { key, url }]: readonly [string, Contexts.Context]): One => ({
    name,
    url,
    current: all.current === name,
    key: maskSecret(Redacted.value(key))
  })

/** A login by its name; without one, the one in use. */
const chosen = (all: Contexts.Contexts, given: Option.Option<string>) => {
  const name = Option.getOrElse(given, () => all.current ?? "")
  if (name !== "") return Effect.map(Contexts.find(all, name), (context) => ({ name, context }))
  return new BadArgument({
    message: "You are not logged in anywhere.",
    hint: "'gateway login <url>' changes that."
  })
}

const without = (all: Contexts.Contexts, name: string): Contexts.Contexts => ({
  current: all.current === name ? null : all.current,
  contexts: Object.fromEntries(Object.entries(all.contexts).filter(([key]) => key !== name))
})

const name = Args.text({ name: "context" })
const maybeName = Args.optional(name)

export const contextList = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const { all } = yield* opened
    const contexts = Object.entries(all.contexts).map(viewOf(all))
    yield* Output.list({
      schema: All,
      value: { contexts },
      rows: contexts,
      columns,
      empty: "You are not logged in anywhere: commands use this machine's gateway. 'gateway login <url>' changes that."
    })
  })
)

export const contextShow = Command.make("show", { name: maybeName }, (given) =>
  Effect.gen(function* () {
    const { all } = yield* opened
    const found = yield* chosen(all, given.name)
    const view = viewOf(all)([found.name, found.context])
    yield* Output.result({
      schema: One,
      value: view,
      name: view.name,
      text: Output.print(
        fields([
          ["Name", view.name],
          ["Address", view.url],
          ["In use", Output.yesNo(view.current)],
          ["Key", view.key]
        ])
      )
    })
  })
)

export const contextUse = Command.make("use", { name }, (given) =>
  Effect.gen(function* () {
    const { all, file } = yield* opened
    if (given.name === Contexts.localName) {
      yield* Contexts.write(file, { ...all, current: null })
      return yield* Output.note("Commands use this machine's gateway.")
    }
    const found = yield* chosen(all, Option.some(given.name))
    yield* Contexts.write(file, { ...all, current: found.name })
    yield* Output.note(`Commands go to ${found.context.url}.`)
  })
)

export const contextRemove = Command.make("remove", { name }, (given) =>
  Effect.gen(function* () {
    const { all, file } = yield* opened
    const found = yield* chosen(all, Option.some(given.name))
    yield* Contexts.write(file, without(all, found.name))
    yield* Output.note(`The login '${found.name}' is forgotten. Its key was not removed from ${found.context.url}.`)
  })
)

export const logoutCommand = Command.make("logout", { name: maybeName }, (given) =>
  Effect.gen(function* () {
    const { all, file } = yield* opened
    const found = yield* chosen(all, given.name)
    const back = yield* Effect.either(revokeKey(found.context))
    yield* Contexts.write(file, without(all, found.name))
    yield* Output.note(
      `Logged out of ${found.context.url}. Commands use ${all.current === found.name ? "this machine's gateway" : "the same gateway as before"}.`
    )
    if (back._tag === "Left") {
      const reason = "message" in back.left ? back.left.message : ""
      yield* Output.note(
        `The key of this login could not be removed there (${reason}) Remove it with 'gateway key remove' on that gateway, or 'gateway admin-session end' where a person has logged in.`
      )
    }
  })
)
